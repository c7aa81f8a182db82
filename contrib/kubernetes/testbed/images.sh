# Images for the test bed, made of busybox. Read by kubelet.sh, with its variables set.
# shellcheck shell=bash disable=SC2154

digest_of() { sha256sum <"$1" | cut -d' ' -f1; }

# add_blob FILE: moves it to where the image has its blobs; prints "sha256:DIGEST","size":SIZE of it.
add_blob() {
  local digest size
  digest=$(digest_of "$1")
  size=$(stat -c %s "$1")
  mv "$1" "$work/image/blobs/sha256/$digest"
  printf '"sha256:%s","size":%s' "$digest" "$size"
}

make_image() { # NAME:TAG ENTRYPOINT, a JSON list or null; more files stand in the image's root folder
  local work=$run/image.$$ program layer layer_digest configuration manifest
  rm -rf "$work"
  mkdir -p "$work"/fs/{bin,tmp,etc} "$work/image/blobs/sha256"
  cp -L "$dir/bin/busybox" "$work/fs/bin/busybox"
  [ $# -le 2 ] || cp "${@:3}" "$work/fs/"
  for program in sh echo sleep cat true false env id ls date hostname kill seq test printf expr wc head tail trap yes dd nproc; do
    ln -s busybox "$work/fs/bin/$program"
  done
  printf 'root:x:0:0:root:/:/bin/sh\n' >"$work/fs/etc/passwd"
  tar -C "$work/fs" --sort=name --mtime=@0 --owner=0 --group=0 -cf "$work/layer" .
  layer_digest=$(digest_of "$work/layer")
  layer=$(add_blob "$work/layer")
  printf '{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/bin"],"Entrypoint":%s},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$2" "$layer_digest" >"$work/configuration"
  configuration=$(add_blob "$work/configuration")
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":%s}]}' \
    "$configuration" "$layer" >"$work/manifest"
  manifest=$(add_blob "$work/manifest")
  printf '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
  printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%s,"annotations":{"io.containerd.image.name":"%s","org.opencontainers.image.ref.name":"%s"}}]}' \
    "$manifest" "$1" "${1##*:}" >"$work/image/index.json"
  tar -C "$work/image" -cf "$work/image.tar" .
  "$containerd/ctr" -a "$state/containerd.sock" -n k8s.io images import "$work/image.tar" >>"$run/images.log" 2>&1
  rm -rf "$work"
}
