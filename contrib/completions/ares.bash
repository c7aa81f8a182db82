# Completion of Ares's commands for bash: source this file, or install it as a file of bash-completion.
# The commands say themselves which options they have, so nothing here needs to follow them.

_ares_complete() {
  local word=${COMP_WORDS[COMP_CWORD]}
  [[ $word == -* ]] || return
  mapfile -t COMPREPLY < <(compgen -W "$("$1" --help-completion 2>/dev/null)" -- "$word")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

complete -o default -F _ares_complete asub acheckpoint arun aalloc aattach abcast aqueue acancel aacct aeff await astat aacctmgr ainfo actl areport ashare aprio
