package io.mortise.redis;

import io.mortise.redis.codec.LockCodec;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.RedisTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A transport that waits, after grants, renewals and reads or replacements of facts, until enough
 * replicas have them. Without acknowledgement in time, a renewal fails and a grant becomes an
 * answer that says so (see {@link LockCodec}). The engine then retries, which waits again, since
 * WAIT covers everything the server has written before it.
 *
 * <p>Too few acknowledgements do not prove that the replicas lack the write. Nor do they protect
 * against a failover to a replica that lacks it.
 */
final class ReplicatedTransport implements RedisTransport {
  private static final Pattern IN_SYNC = Pattern.compile("(?m)^slave\\d+:.*state=online");

  private final RedisTransport transport;
  private final Replication wanted;

  /** Number of connected replicas at the last count. */
  private volatile int connected;

  ReplicatedTransport(RedisTransport transport, Replication wanted) {
    this.transport = transport;
    this.wanted = wanted;
  }

  /** Too few replicas are known to have the write. */
  static final class NotReplicatedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotReplicatedException(String message) {
      super(message, null, false, false);
    }
  }

  /** How many replicas acknowledged, and how many should have. */
  private record ReplicaAcknowledgement(long replicas, int needed) {
    boolean isEnough() {
      return replicas >= needed;
    }

    @Override
    public String toString() {
      return replicas + " of " + needed + " replicas acknowledged it in time; more may have it";
    }
  }

  @Override
  public CompletionStage<@Nullable Object> call(String... words) {
    return transport.call(words);
  }

  @Override
  public CompletionStage<@Nullable Object> callGranting(String... words) {
    TransportConnection transportConnection = transport.connection();
    return transportConnection
        .call(words)
        .thenCombine(acknowledged(transportConnection), ReplicatedTransport::marked);
  }

  @Override
  public CompletionStage<@Nullable Object> callRenewing(String... words) {
    TransportConnection transportConnection = transport.connection();
    return transportConnection
        .call(words)
        .thenCombine(
            acknowledged(transportConnection),
            (answer, replicaAcknowledgement) -> {
              if (replicaAcknowledgement.isEnough()) {
                return answer;
              }
              throw new NotReplicatedException("Executed, but " + replicaAcknowledgement + ".");
            });
  }

  /** Sent after the command it covers, on the same connection: WAIT knows of no other. */
  private CompletionStage<ReplicaAcknowledgement> acknowledged(
      TransportConnection transportConnection) {
    boolean all = wanted.replicas() == Replication.ALL;
    int needed = all ? connected : wanted.replicas();
    CompletionStage<Long> replicas = transportConnection.acknowledged(needed, wanted.timeout());
    if (!all) {
      return replicas.thenApply(count -> new ReplicaAcknowledgement(count, needed));
    }
    // Counted after WAIT, so that a replica that joined meanwhile is included.
    return replicas.thenCompose(
        count ->
            transportConnection
                .call("INFO", "replication")
                .thenApply(
                    info -> {
                      connected = (int) IN_SYNC.matcher(String.valueOf(info)).results().count();
                      return new ReplicaAcknowledgement(count, connected);
                    }));
  }

  private static @Nullable Object marked(
      @Nullable Object answers, ReplicaAcknowledgement replicaAcknowledgement) {
    if (replicaAcknowledgement.isEnough() || !(answers instanceof List<?> texts)) {
      return answers;
    }
    List<@Nullable Object> marked = new ArrayList<>(texts.size());
    for (Object text : texts) {
      boolean grant = text instanceof String one && one.startsWith("G");
      marked.add(grant ? LockCodec.UNSURE + replicaAcknowledgement.toString() : text);
    }
    return marked;
  }

  // ---- Delegation ----

  @Override
  public @Nullable Duration retryAfter(ErrorReplyException error, int refusals) {
    return transport.retryAfter(error, refusals);
  }

  @Override
  public void execute(Runnable task) {
    transport.execute(task);
  }

  @Override
  public void schedule(Runnable task, Duration delay) {
    transport.schedule(task, delay);
  }

  @Override
  public boolean isOpen() {
    return transport.isOpen();
  }

  @Override
  public String outageReason() {
    return transport.outageReason();
  }

  @Override
  public void subscribe(String channel, Consumer<String> listener) {
    transport.subscribe(channel, listener);
  }

  @Override
  public boolean isSubscribed(String channel) {
    return transport.isSubscribed(channel);
  }

  @Override
  public boolean isDenied(String channel) {
    return transport.isDenied(channel);
  }

  @Override
  public void unsubscribe(String channel) {
    transport.unsubscribe(channel);
  }

  @Override
  public void readOnCaller(BooleanSupplier done, BooleanSupplier expected) {
    transport.readOnCaller(done, expected);
  }

  @Override
  public void requireReaderThread() {
    transport.requireReaderThread();
  }

  @Override
  public void reset() {
    transport.reset();
  }

  @Override
  public void close() {
    transport.close();
  }
}
