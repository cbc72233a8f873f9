package io.mortise.redis.transport;

import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.redis.transport.RespConnection.PendingCommand;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.ReadOwnership;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transport made of a socket and a thread. Senders write to the socket themselves, one at a time;
 * a thread of the transport, the reader, reads, completes commands, and reconnects when the
 * connection breaks. A thread that waits alone for an answer may read it itself, see {@link
 * ReadOwnership}.
 *
 * <p><b>Failures</b> are handled in one place: the reader takes a broken connection out of use and
 * fails its pending commands. A writer that meets an error only breaks the connection for the
 * reader to find. A write that is stuck, since the other side reads nothing, is cut off after a
 * time. The sender has to notice a missing answer, and then calls {@link #reset()}.
 */
public final class DirectTransport implements RedisTransport {
  private static final Logger log = LoggerFactory.getLogger(DirectTransport.class);
  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

  /**
   * A connection that lasted this long was a good one: reconnecting starts soon after it breaks.
   */
  private static final long STEADY_NANOS = 1_000_000_000;

  private final EndpointResolver endpointResolver;
  private final ScheduledExecutorService timer;
  private final Ticker ticker;
  private final ConnectionWatch watch;
  private final Thread reader;
  private final ReadOwnership readOwnership;

  /** A permit ends a pause between two attempts to connect. */
  private final Semaphore hurry = new Semaphore(0);

  private final Subscriptions subscriptions = new Subscriptions();
  private final Resubscriber resubscriber = new Resubscriber(this, this::subscribeAgain);
  private final TransportListener listener;
  private final ConnectionOutage outage;
  private final ReplyRouter replyRouter;

  /** Held while a command is written; the order of commands on the connection. */
  final ReentrantLock writing = new ReentrantLock();

  /** The connection in use. Changed under the lock, by the reader. */
  private volatile @Nullable RespConnection current;

  /** The latest connection that was opened or is being opened. */
  private volatile @Nullable RespConnection latest;

  private volatile boolean closed;

  private DirectTransport(
      EndpointResolver endpointResolver,
      String name,
      ScheduledExecutorService timer,
      Ticker ticker,
      Duration stuck,
      @Nullable RespConnection first,
      TransportListener listener) {
    this.endpointResolver = endpointResolver;
    this.timer = timer;
    this.ticker = ticker;
    this.watch = new ConnectionWatch(writing, ticker, stuck.toNanos());
    this.latest = first;
    this.current = first;
    this.listener = listener;
    this.reader = DaemonThreads.create(name, this::run);
    this.readOwnership = new ReadOwnership(reader);
    this.outage = new ConnectionOutage(ticker);
    this.replyRouter = new ReplyRouter(subscriptions, resubscriber, readOwnership, listener);
  }

  /**
   * Connects. Blocks.
   *
   * @param name of the reading thread
   * @param timer for {@link #schedule}; not closed with the transport
   * @param stuck how long a write may be stuck before the connection is dropped
   * @throws ErrorReplyException if the server refuses
   * @throws IOException if the server cannot be reached
   */
  static DirectTransport connect(
      Endpoint endpoint, String name, ScheduledExecutorService timer, Ticker ticker, Duration stuck)
      throws IOException {
    return connect(EndpointResolver.fixed(endpoint), name, timer, ticker, stuck, () -> {});
  }

  /**
   * As {@link #connect(Endpoint, String, ScheduledExecutorService, Ticker, Duration)}, to the
   * endpoint that is resolved.
   *
   * @param listener is told about breaks and reconnects
   */
  public static DirectTransport connect(
      EndpointResolver endpointResolver,
      String name,
      ScheduledExecutorService timer,
      Ticker ticker,
      Duration stuck,
      TransportListener listener)
      throws IOException {
    RespConnection first =
        open(endpointResolver, new RespConnection(endpointResolver.resolve(), ticker));
    return new DirectTransport(endpointResolver, name, timer, ticker, stuck, first, listener)
        .started();
  }

  /** A transport without a connection yet: it opens one by itself, as after a break. */
  public static DirectTransport connecting(
      EndpointResolver endpointResolver,
      String name,
      ScheduledExecutorService timer,
      Ticker ticker,
      Duration stuck,
      TransportListener listener) {
    return new DirectTransport(endpointResolver, name, timer, ticker, stuck, null, listener)
        .started();
  }

  private DirectTransport started() {
    reader.start();
    watch.watchWrites(this);
    return this;
  }

  private static RespConnection open(
      EndpointResolver endpointResolver, RespConnection respConnection) throws IOException {
    try {
      respConnection.open();
      endpointResolver.check(respConnection.endpoint(), respConnection.role(), respConnection::ask);
      return respConnection;
    } catch (IOException | RuntimeException | Error e) {
      respConnection.kill();
      throw e;
    }
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public void schedule(Runnable task, Duration delay) {
    try {
      var unused = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      task.run();
    }
  }

  @Override
  public boolean isOpen() {
    return !closed && (current != null || watch.holds());
  }

  @Override
  public CompletionStage<@Nullable Object> call(String... words) {
    PendingCommand command = new PendingCommand();
    if (!send(command, words)) {
      command.completeExceptionally(new NotSentException(outageReason()));
    }
    return command;
  }

  @Override
  public String outageReason() {
    return outage.text();
  }

  @Override
  public TransportConnection connection() {
    return new PinnedConnection(this, current);
  }

  /** Returns false if there is no connection; the command is not answered then. */
  private boolean send(PendingCommand command, String... words) {
    writing.lock();
    try {
      return watch.hold(current, null, command, words) || write(current, command, words);
    } finally {
      writing.unlock();
    }
  }

  /**
   * Whether it is the connection in use. That does not change while the lock for writing is held.
   */
  boolean isCurrent(@Nullable RespConnection respConnection) {
    return respConnection != null && respConnection == current;
  }

  /** Sends as {@link #send} does, if it is the connection in use. */
  boolean sendOn(@Nullable RespConnection respConnection, PendingCommand command, String... words) {
    writing.lock();
    try {
      return respConnection != null
          && respConnection == current
          && (watch.hold(current, respConnection, command, words)
              || write(respConnection, command, words));
    } finally {
      writing.unlock();
    }
  }

  private static boolean write(
      @Nullable RespConnection respConnection, PendingCommand command, String... words) {
    if (respConnection == null) {
      return false;
    }
    respConnection.waiting.add(command);
    write(respConnection, words);
    return true;
  }

  static void write(RespConnection respConnection, String... words) {
    try {
      respConnection.write(words);
    } catch (IOException | RuntimeException e) {
      log.debug("Could not write to Redis at {}", respConnection.endpoint(), e);
      respConnection.kill();
    }
  }

  @Override
  public void subscribe(String channel, Consumer<String> listener) {
    send(() -> subscriptions.begin(channel, Subscriptions.ChannelKind.EVERYWHERE, listener));
  }

  /** As {@link #subscribe}, to a channel that belongs to a slot of a cluster. */
  public void subscribeInShard(String channel, Consumer<String> listener) {
    send(() -> subscriptions.begin(channel, Subscriptions.ChannelKind.IN_SHARD, listener));
  }

  @Override
  public void unsubscribe(String channel) {
    send(() -> subscriptions.end(channel));
  }

  @Override
  public boolean isDenied(String channel) {
    return subscriptions.isDenied(channel);
  }

  @Override
  public boolean isSubscribed(String channel) {
    return subscriptions.isConfirmed(channel);
  }

  /** Sends the command of the change under the lock, so that no other change comes in between. */
  private void send(Supplier<Subscriptions.@Nullable SubscribeCommand> change) {
    writing.lock();
    try {
      Subscriptions.SubscribeCommand subscribeCommand = change.get();
      if (subscribeCommand != null) {
        send(subscribeCommand.command(), subscribeCommand.words());
      }
    } finally {
      writing.unlock();
    }
  }

  /** A server that refuses a subscription now may accept it later. */
  private void subscribeAgain() {
    writing.lock();
    try {
      if (current != null) {
        subscriptions.again().forEach(again -> send(again.command(), again.words()));
      }
    } finally {
      writing.unlock();
    }
  }

  @Override
  public void readOnCaller(BooleanSupplier done, BooleanSupplier expected) {
    RespConnection respConnection = current;
    if (respConnection == null || respConnection.endpoint().tls() || !readOwnership.tryAcquire()) {
      // A read from a TLS socket cannot be interrupted half-way.
      return;
    }
    respConnection = current;
    try {
      while (respConnection != null
          && !done.getAsBoolean()
          && expected.getAsBoolean()
          && respConnection.hasMore()) {
        replyRouter.readOne(respConnection);
      }
    } catch (IOException | RuntimeException | Error e) {
      log.debug("Could not read from Redis at {}", this, e);
      reset();
    } finally {
      readOwnership.release();
      // The order matters: a sender that could not borrow the reader meanwhile relies on being seen
      // here.
      if (respConnection == null || !done.getAsBoolean() || !respConnection.waiting.isEmpty()) {
        readOwnership.recallReader();
      }
    }
  }

  @Override
  public void requireReaderThread() {
    readOwnership.recallReader();
  }

  @Override
  public void reset() {
    RespConnection respConnection = current;
    if (respConnection != null) {
      respConnection.kill();
    }
  }

  /** The endpoint of the connection in use; null if there is none. */
  public @Nullable Endpoint peer() {
    RespConnection respConnection = current;
    return respConnection == null ? null : respConnection.endpoint();
  }

  /** Ends the pause before the next attempt to connect, if there is one. */
  public void retryNow() {
    if (current == null) {
      hurry.release();
    }
  }

  @Override
  public void close() {
    closed = true;
    hurry.release();
    RespConnection last = latest;
    if (last != null) {
      last.kill();
    }
    try {
      if (Thread.currentThread() != reader) {
        reader.join(2_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Drops a connection that has been stuck in a write for that long. Returns false once closed. */
  boolean dropIfStuck(long nanos) {
    RespConnection respConnection = current;
    if (respConnection != null && respConnection.isStuck(nanos)) {
      respConnection.kill();
    }
    return !closed;
  }

  // ---- The reader ----

  private void run() {
    try {
      keepConnected();
    } finally {
      RespConnection last = current;
      if (last != null) {
        drop(last, new IOException("The store was closed."));
      }
      watch.givenUp("The store was closed.");
    }
  }

  private void keepConnected() {
    RespConnection respConnection = latest;
    int failures = 0;
    while (!closed) {
      if (respConnection != null) {
        long since = ticker.nanos();
        drop(respConnection, readUntilBroken(respConnection));
        failures = ticker.nanos() - since > STEADY_NANOS ? 0 : failures + 1;
      }
      if (pause(failures)) {
        return;
      }
      respConnection = connectAnew(failures);
      failures = respConnection == null ? failures + 1 : failures;
    }
  }

  private Throwable readUntilBroken(RespConnection respConnection) {
    try {
      while (true) {
        replyRouter.readOne(respConnection);
        if (respConnection.isQuiet()) {
          readOwnership.yieldToCallers();
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      // Out of memory, perhaps: this thread must go on after any failure.
      return e;
    }
  }

  /** Takes a broken connection out of use, and fails its pending commands. */
  private void drop(RespConnection respConnection, Throwable why) {
    respConnection.kill();
    // Recorded before the connection is gone: a caller that finds none reports the reason.
    boolean isFirst = outage.begin(ConnectionOutage.reason(why));
    writing.lock();
    try {
      current = null;
      subscriptions.lost();
      replyRouter.connectionLost();
    } finally {
      writing.unlock();
    }
    if (!closed) {
      log.debug("Lost the connection to Redis at {}", respConnection.endpoint(), why);
    }
    if (isFirst && !closed) {
      ConnectionOutage.tell(listener, why);
    }
    IOException cause = new IOException("The connection broke: " + why, why);
    PendingCommand lost;
    while ((lost = respConnection.waiting.poll()) != null) {
      lost.completeExceptionally(cause);
    }
  }

  /** Returns true if the transport was closed meanwhile. */
  private boolean pause(int failures) {
    long longest = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures, 10));
    try {
      // A random time up to that, so that clients do not all reconnect at once after an outage.
      if (hurry.tryAcquire(ThreadLocalRandom.current().nextLong(longest), TimeUnit.NANOSECONDS)) {
        hurry.drainPermits();
      }
      return closed;
    } catch (InterruptedException e) {
      return closed;
    }
  }

  private @Nullable RespConnection connectAnew(int failures) {
    RespConnection respConnection = null;
    try {
      respConnection = new RespConnection(endpointResolver.resolve(), ticker);
      latest = respConnection;
      if (closed) {
        return null;
      }
      open(endpointResolver, respConnection);
      List<ConnectionWatch.WaitingCommand> stale;
      writing.lock();
      try {
        for (Subscriptions.SubscribeCommand subscribeCommand : subscriptions.anew()) {
          respConnection.waiting.add(subscribeCommand.command());
          respConnection.write(subscribeCommand.words());
        }
        current = respConnection;
        stale = watch.replaced(respConnection);
      } finally {
        writing.unlock();
      }
      ConnectionWatch.fail(stale, "It was not sent before the connection broke.");
      outage.end(respConnection.endpoint());
      log.debug("Connected to Redis at {} again, try {}", respConnection.endpoint(), failures + 1);
      listener.reconnected();
      return respConnection;
    } catch (IOException | RuntimeException | Error e) {
      // As while reading: this thread must go on after any failure.
      if (respConnection != null) {
        // It may have been in use already.
        drop(respConnection, e);
      }
      log.debug(
          "Could not connect to Redis at {} again, try {}", endpointResolver, failures + 1, e);
      outage.failed(e, endpointResolver, closed);
      watch.givenUp(outageReason());
      return null;
    }
  }

  @Override
  public String toString() {
    Endpoint peer = peer();
    return peer == null ? endpointResolver.toString() : peer.toString();
  }
}
