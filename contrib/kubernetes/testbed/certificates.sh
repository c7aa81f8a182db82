# Certificates and kubeconfigs of the test bed. Read by up.sh, with `run`, `pki` and `api` set.
# shellcheck shell=bash disable=SC2154

logged() { "$@" >>"$run/openssl.log" 2>&1 || { tail -3 "$run/openssl.log" >&2; return 1; }; }

make_ca() {
  logged openssl req -x509 -newkey rsa:2048 -nodes -keyout "$pki/ca.key" -out "$pki/ca.crt" -days 30 -subj /CN=test-ca
}

make_certificate() { # NAME SUBJECT EXTENSIONS
  logged openssl req -newkey rsa:2048 -nodes -keyout "$pki/$1.key" -out "$pki/$1.csr" -subj "$2"
  logged openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 30 -out "$pki/$1.crt" \
    -extfile <(printf '%s\n' "$3")
}

make_kubeconfig() { # FILE CERTIFICATE
  cat >"$1" <<END
apiVersion: v1
kind: Config
clusters: [{name: testbed, cluster: {server: "$api", certificate-authority: $pki/ca.crt}}]
users: [{name: $2, user: {client-certificate: $pki/$2.crt, client-key: $pki/$2.key}}]
contexts: [{name: testbed, context: {cluster: testbed, user: $2}}]
current-context: testbed
END
}
