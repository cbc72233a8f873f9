#!/bin/sh
# Starts the command of "mortise run", and ends it when mortise is gone.
#
#   $1   a named pipe whose write end mortise holds open: its end of file means that mortise has died
#   $2   process id of mortise
#   $3   tenths of a second between SIGTERM and SIGKILL if mortise dies; "never" to let the command live on then
#   $4…  the command
#
# Lines that mortise writes to the pipe:
#   TERM, INT, HUP, CONT …   send that signal to the command and what it started
#   SUSPEND                  stop them, then mortise
#   LOST <tenths>            SIGTERM now, SIGKILL when the time is over; then this watcher is done
#   END                      the command is over; leave alone what it left behind
# When the watcher is done it removes the folder of the pipe; mortise may wait for that.
#
# The command takes over the process id and the three standard streams of this shell, so mortise sees how it ends and
# nothing stands between it and its input. The watcher runs beside it and belongs neither to its children nor to its
# session. A pipe by name, since the Java runtime hands on no descriptor but 0, 1 and 2, which are the user's.
#
# Away from a terminal the command gets a session of its own: whoever is in it can be found and ended. At a terminal a new
# session would lose Ctrl-C, job control and password prompts, so there the tree of its descendants is ended instead; the
# terminal itself delivers Ctrl-C and Ctrl-Z to all of them.
#
# POSIX sh; tried with dash and bash. Reads /proc where there is one, else the output of ps.
set -u
pipe=$1
mortise=$2
grace=$3
shift 3
target=$$
roots=" $target "
folder=${pipe%/*}

terminal=no
if [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then terminal=yes; fi

# One line per process: id, parent, session.
processes() {
  if [ -r /proc/self/stat ]; then
    for stat in /proc/[0-9]*/stat; do
      { IFS= read -r line <"$stat"; } 2>/dev/null || continue
      # The name in parentheses may hold blanks and parentheses: what counts comes after the last one.
      # shellcheck disable=SC2086 # numbers to be split
      set -- ${line##*) }
      [ "$1" = Z ] || echo "${line%% *} $2 $4"
    done
  else
    ps -A -o pid= -o ppid= | while read -r pid parent; do echo "$pid $parent -"; done
  fi
}

# Sets $found to those that are alive of: $roots (the command, until it is being ended), its session, and the descendants
# of all these.
find_members() {
  table=$(processes)
  found=' '
  added=yes
  while [ -n "$added" ]; do
    added=
    while read -r pid parent session; do
      case $found in *" $pid "*) continue ;; esac
      case $roots in
        *" $pid "*) ;;
        *)
          case $found in
            *" $parent "*) ;;
            *) [ "$session" = "$target" ] || continue ;;
          esac
          ;;
      esac
      found="$found$pid "
      added=yes
    done <<END
$table
END
  done
}

send() {
  find_members
  # shellcheck disable=SC2086 # several ids
  [ "$found" = ' ' ] || kill -s "$1" $found 2>/dev/null
}

# Stops everyone first, until nobody is new: a process that forks while the list is read would be missed. Begins with those
# in $found: with many processes a look takes long, and they must not work on meanwhile.
kill_all() {
  rounds=0
  before=
  while [ "$found" != "$before" ] && [ "$rounds" -lt 10 ]; do
    # shellcheck disable=SC2086 # several ids
    [ "$found" = ' ' ] || kill -s STOP $found 2>/dev/null
    before=$found
    roots=$found
    rounds=$((rounds + 1))
    find_members
  done
  # shellcheck disable=SC2086 # several ids
  [ "$found" = ' ' ] || kill -s KILL $found 2>/dev/null
}

# Sets $now, in tenths of a second: by a clock that nobody sets where there is /proc, else by the one that date shows, which
# counts whole seconds here.
read_clock() {
  if { IFS=' .' read -r seconds hundredths _ </proc/uptime; } 2>/dev/null; then
    now=$((seconds * 10 + ${hundredths%?}))
  else
    now=$(date +%s)0
  fi
}

# SIGTERM, then up to $1 tenths of a second, then SIGKILL. What is stopped cannot end by itself, so it is woken. Whoever
# has been found stays so when its parent ends first. Rounds are not time: one takes the longer the more processes there
# are and the busier the machine is. So the clock decides, and no look begins that would not be over in time.
end_all() {
  read_clock
  deadline=$((now + $1))
  look=0
  send TERM
  roots=$found
  # shellcheck disable=SC2086 # several ids
  [ "$found" = ' ' ] || kill -s CONT $found 2>/dev/null
  while read_clock && [ "$now" -lt "$deadline" ]; do
    if [ $((now + look)) -lt "$deadline" ]; then
      began=$now
      find_members
      roots=$found
      [ "$found" != ' ' ] || break
      read_clock
      look=$((now - began))
    fi
    sleep 0.1 2>/dev/null || sleep 1
  done
  kill_all
  rm -rf -- "$folder"
}

watch() {
  trap '' HUP INT QUIT TERM TSTP TTIN TTOU
  while IFS= read -r word; do
    case $word in
      END)
        rm -rf -- "$folder"
        exit 0
        ;;
      'LOST '*)
        end_all "${word#LOST }"
        exit 0
        ;;
      SUSPEND)
        send STOP # at a terminal too: the signal may have been for mortise alone
        kill -s STOP "$mortise"
        ;;
      INT) [ "$terminal" = yes ] || send "$word" ;;
      *) send "$word" ;;
    esac
  done
  if [ "$grace" = never ]; then rm -rf -- "$folder"; else end_all "$grace"; fi
}

# Opened for both ways first: opening the read end alone would wait for ever had mortise died before.
exec 3<>"$pipe" 4<"$pipe" 3>&-
# Started by a shell that ends at once, so that the command does not find a child which it never started.
(watch <&4 4<&- >/dev/null &)
exec 4<&-
if [ "$terminal" = no ] && command -v setsid >/dev/null; then
  exec setsid "$@"
fi
exec "$@"
