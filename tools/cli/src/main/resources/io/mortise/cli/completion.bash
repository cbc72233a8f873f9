# Completion of 'mortise' for bash: commands, options, and names of locks, which it asks the store for.
# Printed by 'mortise completion bash'. To use it, add to ~/.bashrc:  source <(mortise completion bash)

_mortise() {
  local tool=$1 words command='' store='' i cur='' prev candidates='' options='' name
  # By blanks: bash itself also splits at colons, which names and URLs have.
  read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
  if [[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]]; then
    cur=${words[${#words[@]} - 1]}
    words=("${words[@]:0:${#words[@]} - 1}")
  fi
  prev=${words[${#words[@]} - 1]}
  for ((i = 1; i < ${#words[@]}; i++)); do
    case ${words[i]} in
      --)
        # The command of mortise run.
        if ((i == ${#words[@]} - 1)); then
          while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -c -- "$cur")
        else
          while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$cur")
        fi
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
  case $command in
    '') candidates='@COMMANDS@' ;;
@CASES@
  esac
  case $command$prev in
@VALUES@
  esac
  COMPREPLY=()
  if [[ $cur == -* ]]; then
    candidates=$options
  fi
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -W "$candidates" -- "$cur")
  case $cur:$prev:$command in
    -* | *:--store:*) ;;
    *:@NAMED@)
      while IFS= read -r name; do
        COMPREPLY+=("$(printf %q "$name")")
      done < <("$tool" ls --names --limit=200 ${store:+"--store=$store"} "$cur" 2>/dev/null)
      ;;
  esac
  # What bash takes for the word begins behind the last colon or equals sign.
  if [[ $cur == *[:=]* ]]; then
    local before=${cur%"${cur##*[:=]}"}
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
}
complete -o default -F _mortise mortise
