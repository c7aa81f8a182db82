#compdef asub acheckpoint arun aalloc aattach abcast aqueue acancel aacct aeff await astat aacctmgr ainfo actl areport ashare aprio
# Completion of Ares's commands for zsh: install it as _ares in a folder of $fpath.
# The commands say themselves which options they have, so nothing here needs to follow them.

_ares() {
  if [[ $words[CURRENT] == -* ]]; then
    local -a options=(${(f)"$($words[1] --help-completion 2>/dev/null)"})
    compadd -S '' -- ${(M)options:#*=}
    compadd -- ${options:#*=}
  else
    _files
  fi
}

_ares "$@"
