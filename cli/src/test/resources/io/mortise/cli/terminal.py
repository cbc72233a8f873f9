"""Runs a command on a terminal of its own: terminal.py OUTPUT-FILE COMMAND...

Lines of the standard input are orders: "type TEXT" types it (with escapes), "await TEXT" waits until the terminal
has shown it, "kill SIGNAL" sends a signal to the command's process alone. Then the end of the command is awaited; its
status, or 128 + signal, is ours."""
import os, pty, select, signal, sys, time

out = open(sys.argv[1], "wb", buffering=0)
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])

seen = b""

def pump(timeout):
    global seen
    if not select.select([fd], [], [], timeout)[0]:
        return True
    try:
        data = os.read(fd, 4096)
    except OSError:
        return False
    seen += data
    out.write(data)
    return bool(data)

for line in sys.stdin:
    order, _, text = line.rstrip("\n").partition(" ")
    data = text.encode().decode("unicode_escape").encode("latin-1")
    if order == "type":
        os.write(fd, data)
    elif order == "await":
        end = time.time() + 20
        while data not in seen:
            if time.time() > end or not pump(0.1):
                sys.exit("not seen: " + text)
        seen = seen[seen.index(data) + len(data):]
    elif order == "kill":
        os.kill(pid, getattr(signal, "SIG" + text))

while pump(0.5):
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        break
else:
    _, status = os.waitpid(pid, 0)
while pump(0.1) and select.select([fd], [], [], 0)[0]:
    pass
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
