package io.mortise.memcached;

import io.mortise.StoreUnfitException;
import io.mortise.memcached.MetaException.FailureKind;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One connection, which is not used again once it broke. One thread reads. A thread that sends
 * while another thread writes leaves its commands to that thread, so that they share a write.
 * Anybody may {@link #kill()}.
 *
 * <p><b>The server's clock</b> is read with each request that gives a lock time, before it: see
 * {@link ServerClock}. It is first read when the server has accepted the connection. That is done
 * by the thread that sets the clock, which sets it next.
 */
final class MetaConnection {
  /** For the thread that sets the clock to go on, after it has accepted the connection. */
  private static final long ACCEPTED_MILLIS = 10;

  /** The longest that memcached takes for a duration; beyond, it is a date. */
  private static final long CLOCK_SECONDS = TimeUnit.DAYS.toSeconds(30);

  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final MemcachedTarget target;
  private final Ticker ticker;
  private final String clockKey;
  private final Socket socket = new Socket();
  private @Nullable MetaReader in;

  /** Null if the server has no room for the item by which it is read. Of the reading thread. */
  private @Nullable ServerClock clock;

  private boolean clockWasThere;

  private final ReentrantLock guard = new ReentrantLock();

  // Guarded.
  private final ArrayDeque<MetaExchange> waiting = new ArrayDeque<>();
  private final ByteArrayOutputStream unsent = new ByteArrayOutputStream();
  private @Nullable OutputStream out;
  private boolean writing;
  private boolean failed;
  private long numbers;

  MetaConnection(MemcachedTarget target, Ticker ticker) {
    this.target = target;
    this.ticker = ticker;
    this.clockKey = ItemKey.ofClock(target.prefix());
  }

  /**
   * Connects, and looks whether the server is fit. Blocks, for twice the timeout at most.
   *
   * @throws IOException if it cannot be reached, or does not answer in time
   * @throws StoreUnfitException if it must not be used
   */
  void open() throws IOException {
    long millis = target.timeout().toMillis();
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(target.host()), target.port());
    socket.connect(address, (int) millis);
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    // A server may send a byte now and then for ever.
    CompletableFuture<Void> limit =
        CompletableFuture.runAsync(
            this::kill,
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, Runnable::run));
    try {
      in = new MetaReader(socket.getInputStream());
      out = socket.getOutputStream();
      greet();
      readClockFirst();
    } catch (IOException e) {
      throw limit.isDone()
          ? new IOException("no answer within " + DurationText.format(target.timeout()), e)
          : e;
    } finally {
      limit.cancel(false);
    }
  }

  private void greet() throws IOException {
    String credentials = target.credentials();
    if (credentials != null) {
      int length = credentials.getBytes(StandardCharsets.UTF_8).length;
      MetaReply reply =
          ask(new MetaCommand("set mortise 0 0 " + length, credentials, false)).get(0);
      if (!reply.is("STORED")) {
        throw new StoreUnfitException(
            "The server refuses the user or the password (store=%s): %s."
                .formatted(target, reply.shown()));
      }
    }
    // Alone: a server that wants a user answers nothing after its first refusal.
    MetaReply greeting = ask(MetaCommand.classic("mn")).get(0);
    if (greeting.line().contains("unauthenticated")) {
      throw new StoreUnfitException(
          "The server wants a user (store=%s). Write memcached://user:password@host."
              .formatted(target));
    } else if (!greeting.is("MN")) {
      throw new StoreUnfitException(
          "The server does not know the commands that locks need (store=%s): %s. Use memcached 1.6 or later, without a proxy."
              .formatted(target, greeting.shown()));
    }
    ServerSettings.check(target, ask(MetaCommand.classic("stats settings")).get(0).statistics());
  }

  private void readClockFirst() throws IOException {
    try {
      var unused = new CountDownLatch(1).await(ACCEPTED_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new IOException("The thread was interrupted.", e);
    }
    long sent = ticker.nanos();
    List<MetaReply> replies = ask(MetaCommand.add(clockKey, CLOCK_SECONDS, "1"), readingClock());
    long now = ticker.nanos();
    if (now - sent > SLOW_NANOS) {
      throw new IOException("The server stood still for a moment.");
    }
    clockWasThere = !replies.get(0).is("STORED");
    MetaReply reply = replies.get(1);
    if (reply.is("HD")) {
      clock = new ServerClock(reply.number('c'), reply.number('t'), now);
    } else if (!replies.get(0).isOutOfMemory()) {
      throw new IOException("The server answered in another form: " + replies.get(0).shown());
    }
  }

  private MetaCommand readingClock() {
    return MetaCommand.meta("mg " + clockKey + " c t");
  }

  /** Whether it misses the clock's item of an earlier connection, though that had time left. */
  boolean lacksClockOf(@Nullable MetaConnection earlier) {
    ServerClock known = earlier == null ? null : earlier.clock;
    return known != null
        && !known.hasEnded(ticker.nanos())
        && !(clockWasThere && clock != null && clock.item() == known.item());
  }

  private List<MetaReply> ask(MetaCommand... commands) throws IOException {
    MetaExchange exchange = new MetaExchange(List.of(commands), false);
    send(exchange);
    while (!exchange.add(read())) {
      // The next.
    }
    guard.lock();
    try {
      waiting.remove(exchange);
    } finally {
      guard.unlock();
    }
    return exchange.replies();
  }

  private MetaReply read() throws IOException {
    MetaReader from = in;
    if (from == null) {
      throw new IOException("There is no connection yet.");
    }
    return from.read();
  }

  /** The same commands, after one that reads the clock. */
  MetaExchange withClock(List<MetaCommand> commands) {
    List<MetaCommand> all = new ArrayList<>(commands.size() + 1);
    all.add(readingClock());
    all.addAll(commands);
    return new MetaExchange(all, true);
  }

  /**
   * Sends, or leaves it to the thread that writes. Blocks while the server takes nothing in.
   *
   * @return false if the connection has failed; nothing was sent then
   */
  boolean send(MetaExchange exchange) {
    guard.lock();
    try {
      if (failed) {
        return false;
      }
      waiting.add(exchange);
      exchange.number = numbers;
      for (MetaCommand command : exchange.commands) {
        unsent.writeBytes(command.text(numbers++).getBytes(StandardCharsets.UTF_8));
      }
      if (writing) {
        return true;
      }
      writing = true;
    } finally {
      guard.unlock();
    }
    try {
      for (byte[] bytes = next(); bytes.length > 0; bytes = next()) {
        write(bytes);
      }
    } catch (IOException | RuntimeException e) {
      // The reader finds it broken.
      kill();
    }
    return true;
  }

  private void write(byte[] bytes) throws IOException {
    OutputStream to = out;
    if (to == null) {
      throw new IOException("There is no connection yet.");
    }
    to.write(bytes);
  }

  private byte[] next() {
    guard.lock();
    try {
      byte[] bytes = unsent.toByteArray();
      unsent.reset();
      writing = bytes.length > 0;
      return bytes;
    } finally {
      guard.unlock();
    }
  }

  /** Reads a reply, and completes what it is the last of. Blocks. */
  void readOne() throws IOException {
    MetaReply reply = read();
    MetaExchange exchange;
    guard.lock();
    try {
      exchange = waiting.peek();
      if (exchange == null) {
        throw new IOException("The server answers what nobody asked: " + reply.shown());
      } else if (!exchange.add(reply)) {
        return;
      }
      waiting.remove();
    } finally {
      guard.unlock();
    }
    complete(exchange);
  }

  private void complete(MetaExchange exchange) throws IOException {
    List<MetaReply> replies = exchange.replies();
    if (!exchange.readsClock) {
      exchange.complete(replies);
      return;
    }
    MetaReply read = replies.get(0);
    ServerClock known = clock;
    if (known == null) {
      exchange.completeExceptionally(
          new MetaException(FailureKind.FULL, "The server has no memory left.", null));
      return;
    }
    String doubt = null;
    if (!read.is("HD") || known.item() != read.number('c')) {
      doubt = "The server has forgotten items: it was flushed, or evicted them.";
    } else if (known.isBehind(read.number('t'), ticker.nanos())) {
      doubt = "The server stood still for a moment, so what it was told last may expire early.";
    }
    if (doubt == null) {
      exchange.complete(replies.subList(1, replies.size()));
    } else {
      MetaException failure = new MetaException(FailureKind.UNANSWERED, doubt, null);
      exchange.completeExceptionally(failure);
      // The next connection finds out what the clock is now.
      throw failure;
    }
  }

  /** Fails what waits. Nothing is sent any more. */
  void fail(Throwable why) {
    List<MetaExchange> lost;
    guard.lock();
    try {
      failed = true;
      lost = List.copyOf(waiting);
      waiting.clear();
    } finally {
      guard.unlock();
    }
    for (MetaExchange exchange : lost) {
      exchange.completeExceptionally(
          new MetaException(FailureKind.UNANSWERED, "The connection broke: " + reason(why), why));
    }
  }

  static String reason(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }

  /** Ends reads and writes at once, with an exception for the threads in them. */
  void kill() {
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }
}
