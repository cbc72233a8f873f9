package io.mortise.redis.transport;

import io.mortise.redis.transport.RespConnection.PendingCommand;
import io.mortise.redis.transport.RespConnection.ReplicaWait;
import io.mortise.redis.transport.RespReader.ProtocolException;
import io.mortise.redis.transport.RespReader.PushMessage;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transport made of a socket and a thread. Whoever sends writes to the socket himself, one at a
 * time; a thread of the transport, the reader, reads, completes what is answered, and connects anew
 * when the connection breaks. Who waits alone for an answer may read it himself, see {@link
 * ReadOwnership}.
 *
 * <p><b>What may fail</b> fails in one place: the reader takes a broken connection out of use and
 * fails what waits on it. A writer that meets an error only breaks the connection for the reader to
 * find. A write that is stuck, since the other side takes nothing in, is cut off after a time; a
 * missing answer is for the sender to notice, who then calls {@link #reset()}.
 */
public final class DirectTransport implements RedisTransport {
  private static final Logger log = LoggerFactory.getLogger(DirectTransport.class);

  private static final long FIRST_PAUSE_NANOS = 5_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

  /** In the midst of a failover servers refuse for a moment. */
  private static final long REFUSED_NANOS = 1_000_000_000;

  /** A connection that lasted so long was a good one: the next is tried soon after it broke. */
  private static final long STEADY_NANOS = 1_000_000_000;

  private final EndpointResolver endpointResolver;
  private final ScheduledExecutorService timer;
  private final Ticker ticker;
  private final long stuckNanos;
  private final Thread reader;
  private final ReadOwnership readOwnership;

  /** A permit ends a pause between two tries to connect. */
  private final Semaphore hurry = new Semaphore(0);

  private final Subscriptions subscriptions = new Subscriptions();

  private final Resubscriber resubscriber = new Resubscriber(this, this::subscribeAgain);

  /** What subscriptions were refused with on this connection and the log has. */
  private final Set<String> refusals = ConcurrentHashMap.newKeySet();

  private final TransportListener listener;

  /** Held while a command is written; the order of commands on the connection. */
  private final ReentrantLock writing = new ReentrantLock();

  /** The connection in use. Changed under the lock, by the reader. */
  private volatile @Nullable RespConnection current;

  /** The latest that was made or is being made. */
  private volatile @Nullable RespConnection latest;

  private volatile boolean closed;

  /** Since when there has been no connection, and why none could be made; null while there is. */
  private volatile @Nullable Outage outage;

  /**
   * What is wrong with a connection that cannot be made.
   *
   * @param warned whether the log has it
   */
  private record Outage(long since, String reason, boolean warned) {
    String at(long now) {
      return "There has been no connection for %s: %s."
          .formatted(
              DurationText.format(Duration.ofNanos(now - since)), reason.replaceFirst("\\.+$", ""));
    }
  }

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
    this.stuckNanos = stuck.toNanos();
    this.latest = first;
    this.current = first;
    this.listener = listener;
    this.reader = new Thread(this::run, name);
    reader.setDaemon(true);
    this.readOwnership = new ReadOwnership(reader);
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
  public static DirectTransport connect(
      Endpoint endpoint, String name, ScheduledExecutorService timer, Ticker ticker, Duration stuck)
      throws IOException {
    return connect(EndpointResolver.fixed(endpoint), name, timer, ticker, stuck, () -> {});
  }

  /**
   * As {@link #connect(Endpoint, String, ScheduledExecutorService, Ticker, Duration)}, to wherever
   * that is.
   *
   * @param listener learns what becomes of the connection
   */
  public static DirectTransport connect(
      EndpointResolver endpointResolver,
      String name,
      ScheduledExecutorService timer,
      Ticker ticker,
      Duration stuck,
      TransportListener listener)
      throws IOException {
    RespConnection first = open(endpointResolver, ticker);
    return new DirectTransport(endpointResolver, name, timer, ticker, stuck, first, listener)
        .started();
  }

  /** A transport without a connection yet: it makes one by itself, as it does after one broke. */
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
    watch();
    return this;
  }

  private static RespConnection open(EndpointResolver endpointResolver, Ticker ticker)
      throws IOException {
    return open(endpointResolver, new RespConnection(endpointResolver.resolve(), ticker));
  }

  private static RespConnection open(
      EndpointResolver endpointResolver, RespConnection respConnection) throws IOException {
    try {
      respConnection.open();
      endpointResolver.check(respConnection.endpoint(), respConnection.role());
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
    return !closed && current != null;
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
    Outage now = outage;
    return now == null ? "There is no connection." : now.at(ticker.nanos());
  }

  @Override
  public TransportConnection connection() {
    return new PinnedConnection(current);
  }

  /**
   * The connection that was in use at some moment. While a WAIT is in flight, all callers join the
   * next one. So a caller is delayed by two WAITs at most, however many locks share the connection.
   */
  private final class PinnedConnection implements TransportConnection {
    private final @Nullable RespConnection respConnection;

    PinnedConnection(@Nullable RespConnection respConnection) {
      this.respConnection = respConnection;
    }

    @Override
    public CompletionStage<@Nullable Object> call(String... words) {
      PendingCommand command = new PendingCommand();
      if (!sendOn(respConnection, command, words)) {
        command.completeExceptionally(new NotSentException(outageReason()));
      }
      return command;
    }

    @Override
    public CompletionStage<Long> acknowledged(int replicas, Duration timeout) {
      writing.lock();
      try {
        if (respConnection == null || respConnection != current) {
          return CompletableFuture.failedStage(new NotSentException(outageReason()));
        }
        if (respConnection.waitNext == null) {
          respConnection.waitNext = new ReplicaWait(replicas, timeout);
        }
        ReplicaWait mine = respConnection.waitNext;
        mine.alsoFor(replicas);
        if (respConnection.waitInFlight == null) {
          sendWait(respConnection);
        }
        return mine.acknowledged;
      } finally {
        writing.unlock();
      }
    }
  }

  /** To be called under the lock. */
  private void sendWait(RespConnection respConnection) {
    ReplicaWait replicaWait = respConnection.waitNext;
    respConnection.waitNext = null;
    respConnection.waitInFlight = replicaWait;
    if (replicaWait != null) {
      var unused =
          replicaWait.command.whenComplete(
              (answer, failure) -> waited(respConnection, replicaWait, answer, failure));
      respConnection.waiting.add(replicaWait.command);
      write(respConnection, replicaWait.words());
    }
  }

  private void waited(
      RespConnection respConnection,
      ReplicaWait replicaWait,
      @Nullable Object answer,
      @Nullable Throwable failure) {
    ReplicaWait lost = null;
    writing.lock();
    try {
      respConnection.waitInFlight = null;
      if (respConnection == current) {
        sendWait(respConnection);
      } else {
        lost = respConnection.waitNext;
        respConnection.waitNext = null;
      }
    } finally {
      writing.unlock();
    }
    if (failure != null) {
      replicaWait.acknowledged.completeExceptionally(failure);
    } else {
      replicaWait.acknowledged.complete(answer instanceof Long count ? count : 0L);
    }
    if (lost != null) {
      lost.acknowledged.completeExceptionally(
          new IOException("The connection broke before replicas were asked."));
    }
  }

  /** Returns false if there is no connection; the command is not answered then. */
  private boolean send(PendingCommand command, String... words) {
    writing.lock();
    try {
      return sendOn(current, command, words);
    } finally {
      writing.unlock();
    }
  }

  /** The same, if that is the connection in use. */
  private boolean sendOn(
      @Nullable RespConnection respConnection, PendingCommand command, String... words) {
    writing.lock();
    try {
      if (respConnection == null || respConnection != current) {
        return false;
      }
      respConnection.waiting.add(command);
      write(respConnection, words);
      return true;
    } finally {
      writing.unlock();
    }
  }

  private static void write(RespConnection respConnection, String... words) {
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
  public boolean isSubscribed(String channel) {
    return subscriptions.isConfirmed(channel);
  }

  /** Sends what the change asks for, so that no other change comes in between. */
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

  /** A server that does not pass on what is published to a channel now may do so later. */
  private void subscribeAgain() {
    writing.lock();
    try {
      if (current != null) {
        subscriptions
            .again()
            .forEach(
                subscribeCommand -> send(subscribeCommand.command(), subscribeCommand.words()));
      }
    } finally {
      writing.unlock();
    }
  }

  @Override
  public void readOnCaller(BooleanSupplier done, BooleanSupplier expected) {
    RespConnection respConnection = current;
    if (respConnection == null || respConnection.endpoint().tls() || !readOwnership.tryAcquire()) {
      // A read from a TLS socket cannot be given up half-way.
      return;
    }
    respConnection = current;
    try {
      while (respConnection != null
          && !done.getAsBoolean()
          && expected.getAsBoolean()
          && respConnection.hasMore()) {
        readOne(respConnection);
      }
    } catch (IOException | RuntimeException | Error e) {
      log.debug("Could not read from Redis at {}", this, e);
      reset();
    } finally {
      readOwnership.release();
      // In this order: who sent meanwhile and could not borrow relies on being seen here.
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

  /** Where the connection leads that is in use; null if there is none. */
  public @Nullable Endpoint peer() {
    RespConnection respConnection = current;
    return respConnection == null ? null : respConnection.endpoint();
  }

  /** If a connection is to be made, it is tried at once. */
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

  /** Looks now and then for a write that is stuck, on a thread that cannot be stuck in one. */
  private void watch() {
    CompletableFuture.delayedExecutor(stuckNanos / 2, TimeUnit.NANOSECONDS, Runnable::run)
        .execute(
            () -> {
              if (!closed) {
                RespConnection respConnection = current;
                if (respConnection != null && respConnection.isStuck(stuckNanos)) {
                  respConnection.kill();
                }
                watch();
              }
            });
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
        readOne(respConnection);
        if (respConnection.isQuiet()) {
          readOwnership.yieldToCallers();
        }
      }
    } catch (IOException | RuntimeException | Error e) {
      // Out of memory, perhaps: whatever it is, this thread must go on.
      return e;
    }
  }

  private void readOne(RespConnection respConnection) throws IOException {
    Object reply = respConnection.read();
    if (reply instanceof PushMessage pushMessage) {
      readOwnership.recallReader();
      pushed(respConnection, pushMessage);
    } else {
      answered(respConnection, reply);
    }
  }

  private void answered(RespConnection respConnection, @Nullable Object reply) throws IOException {
    PendingCommand command = respConnection.waiting.poll();
    if (command == null) {
      throw new ProtocolException("an answer to nothing");
    }
    if (reply instanceof ErrorReplyException error) {
      if (command.channel != null && Subscriptions.isToSubscribe(command)) {
        refused(respConnection, command.channel, error);
      }
      command.completeExceptionally(error);
    } else if (command.kind != null) {
      throw new ProtocolException("an answer to a subscription");
    } else {
      command.complete(reply);
    }
  }

  private void pushed(RespConnection respConnection, PushMessage pushMessage) throws IOException {
    if (subscriptions.tell(pushMessage)
        || subscriptions.answer(respConnection.waiting, pushMessage)) {
      return;
    }
    String ended = Subscriptions.endedBy(pushMessage);
    if (ended != null) {
      // The slot of the channel has moved. It may be back before anybody has looked where it is.
      subscriptions.ended(ended);
      resubscriber.after(Resubscriber.SOON);
      listener.reconnected();
    } else if (Subscriptions.isAnswer(pushMessage)) {
      throw new ProtocolException("a subscription that nobody asked for");
    }
  }

  private void refused(RespConnection respConnection, String channel, ErrorReplyException error) {
    subscriptions.refused(channel);
    if (error.is("MOVED") || error.is("ASK") || error.is("TRYAGAIN")) {
      resubscriber.after(Resubscriber.SOON);
      return;
    }
    boolean passes =
        error.is("BUSY")
            || error.is("LOADING")
            || error.is("CLUSTERDOWN")
            || error.is("MASTERDOWN");
    resubscriber.after(passes ? Resubscriber.LATER : Resubscriber.MUCH_LATER);
    if (refusals.add(String.valueOf(error.getMessage()).split(" ", 2)[0])) {
      log.warn(
          "Redis at {} refuses a subscription: {}. Waiting for a lock takes longer until it does"
              + " not; it is asked again.",
          respConnection.endpoint(),
          error.getMessage());
    }
  }

  /** Takes a broken connection out of use, and fails what waits on it. */
  private void drop(RespConnection respConnection, Throwable why) {
    respConnection.kill();
    boolean isFirst = outage == null;
    if (isFirst) {
      // Before the connection is gone: who finds none wants to know why.
      outage = new Outage(ticker.nanos(), "the last one broke: " + reason(why), false);
    }
    writing.lock();
    try {
      current = null;
      subscriptions.lost();
      refusals.clear();
    } finally {
      writing.unlock();
    }
    if (!closed) {
      log.debug("Lost the connection to Redis at {}", respConnection.endpoint(), why);
    }
    if (isFirst && !closed) {
      listener.connectionLost(reason(why));
    }
    IOException cause = new IOException("The connection broke: " + why, why);
    for (PendingCommand lost = respConnection.waiting.poll();
        lost != null;
        lost = respConnection.waiting.poll()) {
      lost.completeExceptionally(cause);
    }
  }

  /** Returns true if the transport was closed meanwhile. */
  private boolean pause(int failures) {
    long longest = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures, 10));
    try {
      // Any time up to that: after an outage not everybody should come back at once.
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
      writing.lock();
      try {
        for (Subscriptions.SubscribeCommand subscribeCommand : subscriptions.anew()) {
          respConnection.waiting.add(subscribeCommand.command());
          respConnection.write(subscribeCommand.words());
        }
        current = respConnection;
      } finally {
        writing.unlock();
      }
      Outage before = outage;
      outage = null;
      if (before != null && before.warned()) {
        log.info(
            "Connected to Redis at {} again after {}.",
            respConnection.endpoint(),
            DurationText.format(Duration.ofNanos(ticker.nanos() - before.since())));
      }
      log.debug("Connected to Redis at {} again, try {}", respConnection.endpoint(), failures + 1);
      listener.reconnected();
      return respConnection;
    } catch (IOException | RuntimeException | Error e) {
      // As while reading: whatever it is, this thread must go on.
      if (respConnection != null) {
        // Perhaps it was in use already.
        drop(respConnection, e);
      }
      log.debug(
          "Could not connect to Redis at {} again, try {}", endpointResolver, failures + 1, e);
      failed(e);
      return null;
    }
  }

  /** Waiters do not learn the cause, so a cause that needs a person is logged once. */
  private void failed(Throwable failure) {
    String reason = reason(failure);
    Outage before = outage;
    long nanos = ticker.nanos();
    long since = before == null ? nanos : before.since();
    boolean warned = before != null && before.warned() && before.reason().equals(reason);
    Outage now = new Outage(since, reason, warned);
    boolean refused =
        failure instanceof ErrorReplyException
            || failure instanceof SSLException
            || failure instanceof TlsMismatchException
            || failure instanceof NotTheMasterException;
    if (refused && !warned && nanos - since > REFUSED_NANOS && !closed) {
      log.warn(
          "Cannot reconnect to Redis at {} for {}: {}. Mend the cause; the client goes on trying.",
          endpointResolver,
          DurationText.format(Duration.ofNanos(nanos - since)),
          reason);
      now = new Outage(since, reason, true);
    }
    outage = now;
  }

  private static String reason(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }

  @Override
  public String toString() {
    Endpoint peer = peer();
    return peer == null ? endpointResolver.toString() : peer.toString();
  }
}
