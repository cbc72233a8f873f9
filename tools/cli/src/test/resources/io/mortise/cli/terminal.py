"""Runs a command on a terminal of its own: terminal.py OUTPUT-FILE COMMAND...

Between the terminal and the command stands a process that outlives it, as the shell of a person would. Lines of the
standard input are orders: "type TEXT" types it (with escapes), "await TEXT" waits until the terminal has shown it,
"kill SIGNAL" sends a signal to the command's process alone, "run COMMAND" runs a shell command, "resize ROWS COLUMNS"
gives the terminal another size, "sane" waits until the terminal echoes and reads lines again, "gone FILE" waits until the process whose id is in the file
is gone, "stopped FILE" until it and the command's process are stopped. Then the end of the command is awaited; its status, or 128 + signal, is ours."""
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time

out = open(sys.argv[1], "wb", buffering=0)
told, tell = os.pipe()
hold, release = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    command = os.fork()
    if command == 0:
        # A background job of a script ignores the one, a build under nohup the other, and so would what they start.
        for name in ("INT", "HUP"):
            signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
        os.execvp(sys.argv[2], sys.argv[2:])
    for name in ("INT", "QUIT", "TSTP"):
        signal.signal(getattr(signal, "SIG" + name), lambda *_: None)
    os.write(tell, struct.pack("i", command))
    _, status = os.waitpid(command, 0)
    os.write(tell, struct.pack("i", status))
    os.close(release)
    os.read(hold, 1)
    os._exit(0)

command = struct.unpack("i", os.read(told, 4))[0]
seen = b""


def pump(seconds):
    global seen
    if select.select([fd], [], [], seconds)[0]:
        data = os.read(fd, 4096)
        seen += data
        out.write(data)


def until(what, done):
    end = time.time() + 60
    while not done():
        if time.time() > end:
            sys.exit("waited in vain: " + what)
        pump(0.05)


def is_sane():
    return termios.tcgetattr(fd)[3] & (termios.ICANON | termios.ECHO | termios.ISIG) == (
        termios.ICANON | termios.ECHO | termios.ISIG
    )


def state(process):
    try:
        with open("/proc/%d/stat" % process) as stat:
            return stat.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


def state_in(file):
    return state(int(open(file).read()))


for line in sys.stdin:
    order, _, text = line.rstrip("\n").partition(" ")
    data = text.encode().decode("unicode_escape").encode("latin-1")
    if order == "type":
        os.write(fd, data)
    elif order == "await":
        until(line, lambda: data in seen)
        seen = seen[seen.index(data) + len(data):]
    elif order == "kill":
        os.kill(command, getattr(signal, "SIG" + text))
    elif order == "run":
        subprocess.run(text, shell=True, check=True, stdin=subprocess.DEVNULL)
    elif order == "resize":
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", *map(int, text.split()), 0, 0))
    elif order == "sane":
        until(line, is_sane)
    elif order == "gone":
        until(line, lambda: state_in(text) == "Z")
    elif order == "stopped":
        until(line, lambda: state_in(text) == state(command) == "T")

until("the end", lambda: select.select([told], [], [], 0)[0])
status = struct.unpack("i", os.read(told, 4))[0]
pump(0)
os.close(release)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
