#!/bin/sh
# Starts the command of "mortise run", and ends it when mortise is gone.
#
#   lifeline.sh start FOLDER MORTISE GRACE COMMAND…
#   lifeline.sh watch FOLDER MORTISE GRACE COMMAND_ID TERMINAL     for this script itself
#
#   FOLDER      has two named pipes, orders (to the watcher) and reports (from it). Nobody needs it once both are open, so
#               the watcher removes it before the command starts
#   MORTISE     process id of mortise
#   GRACE       tenths of a second between SIGTERM and SIGKILL if mortise dies; "never" to let the command live on then
#
# Lines of orders, whose end of file means that mortise has died:
#   TERM, INT, HUP, CONT …   send that signal to the command and what it started
#   SUSPEND                  stop them, then mortise
#   VALID <tenths>           the lock is valid for so long: if no other order comes, end the command in time. Comes first,
#                            as the answer to READY: the command does not start without it
#   LOST <tenths>            SIGTERM now, SIGKILL when the time is over; then this watcher is done
#   END                      the command is over; leave alone what it left behind
# Lines of reports, whose end of file means that the watcher has ended:
#   READY                    it watches
#   DONE                     what was to be ended has been ended. A watcher that was killed does not say it
#
# The command takes over the process id and the three standard streams of the shell that starts it, so mortise sees how it
# ends and nothing stands between it and its input. The watcher runs beside it and belongs neither to its children nor to
# any session or process group that others know: SIGKILL to the process group of mortise (timeout -k, kill -9 %1, a CI
# runner) must leave it alive. The command does not start before the watcher has got there. Pipes by name, since the Java
# runtime hands on no descriptor but 0, 1 and 2, which are the user's.
#
# Away from a terminal the command gets a session of its own: whoever is in it can be found and ended. At a terminal a new
# session would lose Ctrl-C, job control and password prompts, so there the tree of its descendants is ended instead; the
# terminal itself delivers Ctrl-C and Ctrl-Z to all of them.
#
# POSIX sh; tried with dash and bash. Reads /proc where there is one, else the output of ps.
set -u
clock=date
[ ! -r /proc/self/stat ] || clock=start
role=$1
folder=$2
mortise=$3
grace=$4
shift 4

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

# Sets $now, in tenths of a second: the time since the boot at which a new process begins, else what date shows, which counts
# whole seconds. Not /proc/uptime: in a container that may be a file of lxcfs, which jumps, rounds, or goes away while the
# command runs. Fails if no process can be started just now: $now keeps the last reading, and the callers read again soon.
now=0
read_clock() {
  if [ "$clock" = date ]; then
    now=$(date +%s)0
  else
    line=$(cat /proc/self/stat 2>/dev/null) || return 1
    # shellcheck disable=SC2086 # numbers to be split; what begins behind the name is the third field, and the 22nd counts
    set -- ${line##*) }
    now=$((${20} / 10))
  fi
}

# The reading from which a time is counted must not be an old one.
read_clock_first() {
  tries=0
  until read_clock || [ "$tries" -ge "$1" ]; do
    tries=$((tries + 1))
    sleep 1
  done
}

# SIGTERM, then up to $1 tenths of a second, then SIGKILL. What is stopped cannot end by itself, so it is woken. Whoever
# has been found stays so when its parent ends first. Rounds are not time: one takes the longer the more processes there
# are and the busier the machine is. So the clock decides, and no look begins that would not be over in time.
end_all() {
  read_clock_first 5
  deadline=$((now + $1))
  look=0
  send TERM
  roots=$found
  # shellcheck disable=SC2086 # several ids
  [ "$found" = ' ' ] || kill -s CONT $found 2>/dev/null
  while [ "$now" -lt "$deadline" ]; do
    if [ $((now + look)) -lt "$deadline" ]; then
      began=$now
      find_members
      roots=$found
      [ "$found" != ' ' ] || break
      read_clock || :
      look=$((now - began))
    fi
    sleep 0.1 2>/dev/null || sleep 1
    read_clock || :
  done
  kill_all
}

# Ends the command before $1 tenths of a second are over unless it is called again: mortise may stand still (SIGSTOP), and
# the lock goes to another then. Begins when half of the grace is left, as mortise itself would have begun with all of it.
# A watcher that was killed hears of no renewal, so the command is left alone then.
guard() {
  dismiss_guard
  await_guard
  [ "$grace" != never ] || return 0
  {
    nap=
    dismissed=
    trap 'dismissed=yes; [ -z "$nap" ] || kill -s KILL "$nap" 2>/dev/null' USR1
    read_clock_first 1000000
    until=$((now + $1 - grace / 2))
    while [ -z "$dismissed" ] && [ "$now" -lt "$until" ]; do
      # Whole seconds as long as there are two, and never too many.
      if [ $((until - now)) -ge 20 ]; then
        sleep $(((until - now) / 10 - 1)) &
        nap=$!
        [ -z "$dismissed" ] || kill -s KILL "$nap" 2>/dev/null
        wait "$nap" 2>/dev/null
        # Again if the signal ended that: an orphan would become a zombie of a mortise that is process 1.
        [ -z "$dismissed" ] || wait "$nap" 2>/dev/null
        nap=
      else
        sleep 0.1 2>/dev/null || sleep 1
      fi
      read_clock || :
    done
    trap '' USR1
    [ -z "$dismissed" ] || exit 0
    ! kill -s 0 "$$" 2>/dev/null || end_all $((grace / 2 - grace / 10))
  } </dev/null >/dev/null 2>&1 5>&- &
  guard=$!
}

dismiss_guard() {
  [ -z "$guard" ] || kill -s USR1 "$guard" 2>/dev/null
}

# Else it would be a zombie: of this shell, or after it of a mortise that is process 1.
await_guard() {
  [ -z "$guard" ] || wait "$guard" 2>/dev/null
}

# Orders come from the standard input; reports go to descriptor 5, which is open for both ways, so that a mortise that has
# died does not matter to it. The standard output, until it is closed, is what the starting shell waits for.
watch() {
  target=$1
  terminal=$2
  roots=" $target "
  trap '' HUP INT QUIT TERM TSTP TTIN TTOU
  PATH=$PATH:/usr/bin:/bin # for rm, sleep, cat, ps and date; the command keeps its own
  guard=
  # Some emulators leave that field of a process at 0.
  read_clock && [ "$now" -gt 0 ] || clock=date
  rm -rf -- "$folder"
  echo READY >&5
  # No answer: mortise has died. It stands still: the command waits for it.
  IFS= read -r word || exit 1
  guard "${word#VALID }"
  echo ready
  exec >/dev/null
  while IFS= read -r word; do
    case $word in
      'VALID '*) guard "${word#VALID }" ;;
      END)
        dismiss_guard
        echo DONE >&5
        await_guard
        exit 0
        ;;
      'LOST '*)
        dismiss_guard
        end_all "${word#LOST }"
        echo DONE >&5
        await_guard
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
  dismiss_guard
  [ "$grace" = never ] || end_all "$grace"
  await_guard
}

# Replaces this shell by a program in a session of its own. Without setsid (macOS) Perl does the same. Without either it is
# a process group of its own, where the shell can make one without a terminal (bash can, dash cannot).
exec_apart() {
  if command -v setsid >/dev/null; then
    exec setsid "$@"
  elif command -v perl >/dev/null; then
    exec perl -e 'use POSIX; POSIX::setsid(); exec { $ARGV[0] } @ARGV' "$@"
  fi
  set -m 2>/dev/null
  exec 3<&0
  "$@" <&3 3<&- & # named, as a shell without job control gives it an empty input otherwise
  exit
}

if [ "$role" = watch ]; then
  watch "$@"
  exit
fi

terminal=no
if [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then terminal=yes; fi

# Opened for both ways first: opening one end alone would wait for ever had mortise died before.
exec 3<>"$folder/orders" 4<"$folder/orders" 3>&- 5<>"$folder/reports"
# Started by a shell that ends at once, so that the command does not find a child which it never started.
state=$(exec_apart /bin/sh "$0" watch "$folder" "$mortise" "$grace" "$$" "$terminal" <&4 4<&- &)
exec 4<&- 5>&-
[ "$state" = ready ] || exit 1
if [ "$terminal" = no ] && command -v setsid >/dev/null; then
  exec setsid "$@"
fi
exec "$@"
