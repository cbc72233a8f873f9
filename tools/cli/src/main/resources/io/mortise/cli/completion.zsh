#compdef mortise
# Completion of 'mortise' for zsh: commands, options, and names of locks, which it asks the store for.
# Printed by 'mortise completion zsh'. To use it, add behind compinit in ~/.zshrc:  source <(mortise completion zsh)

_mortise() {
  local tool=$words[1] command= store= i
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      --)
        # The command of mortise run.
        shift $i words
        ((CURRENT -= i))
        _normal
        return
        ;;
      --store)
        store=$words[i+1]
        ((i++))
        ;;
      --store=*) store=${words[i]#--store=} ;;
      -*) ;;
      *) command=${command:-$words[i]} ;;
    esac
  done
  local -a candidates options names
  case $command in
    '') candidates=(@COMMANDS@) ;;
@CASES@
  esac
  case $command$words[CURRENT-1] in
@VALUES@
  esac
  if [[ $PREFIX == -* ]]; then
    compadd -- $options
    return
  fi
  compadd -- $candidates
  case $words[CURRENT-1]:$command in
    --store:*) ;;
    *:@NAMED@)
      names=("${(@f)$("$tool" ls --names --limit=200 ${store:+--store=$store} "$PREFIX" 2>/dev/null)}")
      compadd -- ${(@)names:#}
      ;;
  esac
}
compdef _mortise mortise
