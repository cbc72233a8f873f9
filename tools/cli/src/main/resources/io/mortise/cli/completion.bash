
# What picocli's script above does not know: names of locks, which the store is asked for, and the command of 'mortise run'.
_mortise() {
  local tool=$1 line=${COMP_LINE:0:$COMP_POINT} cur='' command='' store='' i name
  local -a words
  # By blanks: bash itself also splits at colons, which names and URLs have.
  if [ -n "${ZSH_VERSION-}" ]; then read -rA words <<<"$line"; else read -ra words <<<"$line"; fi
  if [[ $line != *[[:space:]] ]]; then
    cur=${words[${#words[@]} - 1]}
    words=("${words[@]:0:${#words[@]} - 1}")
  fi
  COMPREPLY=()
  for ((i = 1; i < ${#words[@]}; i++)); do
    case ${words[i]} in
      --)
        local kind=-f
        if ((i == ${#words[@]} - 1)); then kind=-c; fi
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen $kind -- "$cur")
        return
        ;;
      --store)
        store=${words[i + 1]-}
        i=$((i + 1))
        ;;
      --store=*) store=${words[i]#--store=} ;;
      -*) ;;
      *) command=${command:-${words[i]}} ;;
    esac
  done
  COMP_WORDS=("${words[@]}" "$cur")
  COMP_CWORD=${#words[@]}
  _complete_mortise
  case $cur:${words[${#words[@]} - 1]}:$command in
    -* | *:--store:*) ;;
    *:run | *:ls | *:show | *:evict)
      while IFS= read -r name; do
        if [ -n "${ZSH_VERSION-}" ]; then COMPREPLY+=("$name"); else COMPREPLY+=("$(printf %q "$name")"); fi
      done < <("$tool" ls --names --limit=200 ${store:+"--store=$store"} "$cur" 2>/dev/null)
      ;;
  esac
  # What bash takes for the word begins behind the last colon or equals sign.
  if [[ -z ${ZSH_VERSION-} && $cur == *[:=]* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[:=]}"}"}")
  fi
}
complete -o default -F _mortise mortise
