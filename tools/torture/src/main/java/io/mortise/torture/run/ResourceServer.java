package io.mortise.torture.run;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The guarded resources: a counter for each lock, behind a small loopback server that is exempt
 * from faults, with or without fencing by tokens. It also keeps naive locks: a name and a time,
 * freed by any release; and naive queues, which wait for their head until its time is over, dead or
 * alive.
 *
 * <pre>
 * enter LOCK WORKER TOKEN          installs the token; answers the value, or "stale"
 * write LOCK WORKER TOKEN VALUE    answers "ok", or "stale"; token 0 is never stale
 * take LOCK WORKER MILLIS          the naive lock; answers "ok" or "busy"
 * drop LOCK WORKER                 answers "ok"
 * stand LOCK WORKER MILLIS         the naive queue: stands in it for so long; answers "ok" if it is
 *                                  the first, or "busy"
 * leave LOCK WORKER                answers "ok"
 * </pre>
 */
final class ResourceServer implements AutoCloseable {
  /** One counter and its guard. Guarded by its monitor, which is held for no I/O. */
  private static final class GuardedValue {
    private long value;
    private long token;
    private int holder;

    /** The worker that has read but not written yet. */
    private int inside;

    private int taker;
    private long takenUntil;

    /** The deadline of each waiter, in the order of arrival. */
    private final Map<Integer, Long> standing = new LinkedHashMap<>();

    synchronized String enter(int worker, long asked) {
      if (asked > 0) {
        if (asked < token) {
          return "stale";
        }
        token = asked;
        holder = worker;
      }
      inside = worker;
      return Long.toString(value);
    }

    synchronized String write(int worker, long asked, long written) {
      if (inside == worker) {
        inside = 0;
      }
      if (asked > 0 && (asked < token || holder != worker)) {
        return "stale";
      }
      value = written;
      return "ok";
    }

    synchronized String take(int worker, long millis) {
      if (taker != 0 && takenUntil - System.nanoTime() > 0) {
        return "busy";
      }
      taker = worker;
      takenUntil = System.nanoTime() + millis * 1_000_000;
      return "ok";
    }

    synchronized String drop() {
      taker = 0;
      return "ok";
    }

    synchronized String stand(int worker, long millis) {
      long now = System.nanoTime();
      standing.put(worker, now + millis * 1_000_000);
      // Deadlines behind the head may have passed: each waiter stays until its turn.
      while (standing.values().iterator().next() - now <= 0) {
        standing.remove(standing.keySet().iterator().next());
      }
      return standing.keySet().iterator().next() == worker ? "ok" : "busy";
    }

    synchronized String leave(int worker) {
      standing.remove(worker);
      return "ok";
    }

    synchronized long value() {
      return value;
    }

    synchronized int inside() {
      return inside;
    }
  }

  private final ServerSocket server;
  private final Map<String, GuardedValue> guardedValues = new ConcurrentHashMap<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /** Starts to serve, on a free loopback port. */
  ResourceServer() {
    try {
      server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start("torture-resource", this::accept);
  }

  private static void start(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return server.getLocalPort();
  }

  /** The values of the counters. */
  Map<String, Long> values() {
    Map<String, Long> values = new TreeMap<>();
    guardedValues.forEach((lock, guardedValue) -> values.put(lock, guardedValue.value()));
    return values;
  }

  /** The worker that has read a counter but not written yet; 0 if there is none. */
  int inside(String lock) {
    GuardedValue guardedValue = guardedValues.get(lock);
    return guardedValue == null ? 0 : guardedValue.inside();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        client.setTcpNoDelay(true);
        open.add(client);
        start("torture-resource-client", () -> serve(client));
      } catch (IOException e) {
        // Closed, or the client has disconnected.
      }
    }
  }

  private void serve(Socket client) {
    try (client;
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
        BufferedWriter out =
            new BufferedWriter(
                new OutputStreamWriter(client.getOutputStream(), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        out.write(answer(line.split(" ", -1)));
        out.write('\n');
        out.flush();
      }
    } catch (IOException e) {
      // The process was killed.
    } finally {
      open.remove(client);
    }
  }

  private String answer(String[] words) {
    GuardedValue guardedValue = guardedValues.computeIfAbsent(words[1], lock -> new GuardedValue());
    int worker = Integer.parseInt(words[2]);
    return switch (words[0]) {
      case "enter" -> guardedValue.enter(worker, Long.parseLong(words[3]));
      case "write" ->
          guardedValue.write(worker, Long.parseLong(words[3]), Long.parseLong(words[4]));
      case "take" -> guardedValue.take(worker, Long.parseLong(words[3]));
      case "drop" -> guardedValue.drop();
      case "stand" -> guardedValue.stand(worker, Long.parseLong(words[3]));
      case "leave" -> guardedValue.leave(worker);
      default -> throw new IllegalArgumentException("Not understood: " + words[0]);
    };
  }

  @Override
  public void close() {
    try {
      server.close();
      for (Socket client : open) {
        client.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
