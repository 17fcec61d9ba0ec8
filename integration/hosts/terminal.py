# Runs a command in a terminal, types a prompt once it is quiet, and copies what it shows.
import fcntl, os, pty, select, signal, struct, sys, termios, time

QUIET = 3
prompt, command = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))


def end(*_):
    try:
        os.kill(child, signal.SIGKILL)
    except OSError:
        pass
    os._exit(0)


signal.signal(signal.SIGTERM, end)
to_type = [prompt.encode(), b"\r"]
has_shown = False
while True:
    ready, _, _ = select.select([terminal], [], [], QUIET if has_shown else 60)
    if ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        has_shown = True
        sys.stdout.buffer.write(shown)
        sys.stdout.flush()
    elif not has_shown or not to_type:
        # It shows nothing, or was told all and is quiet: the caller ends it, or its time is up.
        if not has_shown:
            break
        time.sleep(1)
    else:
        os.write(terminal, to_type.pop(0))
end()
