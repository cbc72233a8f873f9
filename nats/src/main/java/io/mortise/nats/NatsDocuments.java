package io.mortise.nats;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.spi.document.VersionedDocuments;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.nats.client.Subscription;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.StreamInfo;
import io.nats.client.impl.Headers;
import io.nats.client.support.JsonValueUtils;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Documents as keys of a bucket. The version of a document is the sequence number of its message.
 *
 * <p><b>Absence.</b> A removal leaves a marker, whose number is then the version: a write that
 * found none before is refused, since the key has a message. Markers are forgotten after a day. A
 * key without any message has the number of the last message of the stream, so that fencing tokens
 * rise; a zero before it says that no message is to be replaced.
 *
 * <p><b>Reads go to the stream's leader.</b> A replica that is behind may not have a session yet
 * that holds a lock, and its lock would look free.
 *
 * <p>Thread-safe.
 */
final class NatsDocuments implements VersionedDocuments {
  /** Much longer than a request is on its way, unless a server stands still meanwhile. */
  static final Duration MARKERS_KEPT = Duration.ofDays(1);

  /** What the version of a key without a message begins with. */
  private static final String UNWRITTEN = "0";

  /** There is no stream, and a writer makes it. No other version has three zeros. */
  private static final VersionedText NO_STREAM = new VersionedText(null, UNWRITTEN + "00");

  private static final String OPERATION = "KV-Operation";
  private static final String MARKER_OF_SERVER = "Nats-Marker-Reason";
  private static final String WRITER = "Mortise-Writer";

  private final NatsBucket bucket;
  private final LongSupplier micros;
  private final Duration markersKept;
  private final String writer = UUID.randomUUID().toString();
  private final ReentrantLock guard = new ReentrantLock();

  /** Has a thread of its own. Guarded by the lock; null until something is watched. */
  private @Nullable Dispatcher dispatcher;

  /**
   * Sends nothing yet.
   *
   * @param micros the time of day of this process
   * @param markersKept for how long a removed document is remembered
   */
  NatsDocuments(NatsBucket bucket, LongSupplier micros, Duration markersKept) {
    this.bucket = bucket;
    this.micros = micros;
    this.markersKept = markersKept;
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    String token = KeyToken.encode(key);
    return bucket
        .last(token)
        .thenCompose(
            found ->
                switch (found.getApiErrorCode()) {
                  case NatsBucket.NO_MESSAGE -> bucket.info("").thenApply(NatsDocuments::unwritten);
                  case NatsBucket.NO_STREAM -> completedFuture(NO_STREAM);
                  default -> completedFuture(document(token, found));
                });
  }

  /** The stream is asked after the key: its number is greater than that of any earlier document. */
  private static VersionedText unwritten(StreamInfo stream) {
    return stream.hasError()
        ? NO_STREAM
        : new VersionedText(null, UNWRITTEN + stream.getStreamState().getLastSequence());
  }

  private VersionedText document(String token, MessageInfo found) {
    String version = Long.toString(found.getSeq());
    if (!isMarker(found.getHeaders())) {
      byte[] text = found.getData();
      return new VersionedText(
          text == null ? "" : new String(text, StandardCharsets.UTF_8), version);
    }
    if (found.getTime() != null) {
      long age =
          micros.getAsLong()
              - TimeUnit.MILLISECONDS.toMicros(found.getTime().toInstant().toEpochMilli());
      if (age > TimeUnit.NANOSECONDS.toMicros(markersKept.toNanos())) {
        // Without an answer: the next look does it again, and a writer looks again.
        var unused = bucket.purge(token, found.getSeq());
      }
    }
    return new VersionedText(null, version);
  }

  private static boolean isMarker(@Nullable Headers headers) {
    return headers != null
        && (headers.containsKey(OPERATION) || headers.containsKey(MARKER_OF_SERVER));
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    String token = KeyToken.encode(key);
    Headers headers = new Headers().put(WRITER, writer);
    if (text == null) {
      headers.put(OPERATION, "DEL");
    }
    byte[] body = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    if (found.equals(NO_STREAM)) {
      return bucket
          .make()
          .thenCompose(made -> bucket.write(token, UNWRITTEN, headers, body))
          .thenApply(sequence -> written(text, sequence));
    }
    String expected = found.version().startsWith(UNWRITTEN) ? UNWRITTEN : found.version();
    return bucket
        .write(token, expected, headers, body)
        .thenApply(sequence -> written(text, sequence));
  }

  private static Written written(@Nullable String text, OptionalLong sequence) {
    return sequence.isPresent()
        ? new Written(true, new VersionedText(text, Long.toString(sequence.getAsLong())))
        : new Written(false, null);
  }

  /** Lists all keys of the kind each time, in memory: the server knows no order of keys. */
  @Override
  public CompletionStage<List<String>> scan(String keyPrefix, String after, int limit) {
    String kind = keyPrefix.substring(0, keyPrefix.indexOf('/'));
    return tokens(kind, new HashSet<>())
        .thenApply(
            tokens ->
                tokens.stream()
                    .map(KeyToken::decode)
                    .filter(key -> key.startsWith(keyPrefix) && key.compareTo(after) > 0)
                    .sorted()
                    .limit(limit)
                    .toList());
  }

  private CompletionStage<Set<String>> tokens(String kind, Set<String> before) {
    String subjects = bucket.subjects();
    return bucket
        .info(
            "{\"subjects_filter\":\"%s%s.>\",\"offset\":%d}"
                .formatted(subjects, kind, before.size()))
        .thenCompose(
            stream -> {
              Set<String> page = stream.getStreamState().getSubjectMap().keySet();
              boolean isNew = false;
              for (String subject : page) {
                isNew |= before.add(subject.substring(subjects.length()));
              }
              int all =
                  stream.hasError() ? 0 : JsonValueUtils.readInteger(stream.getJv(), "total", 0);
              return isNew && before.size() < all ? tokens(kind, before) : completedFuture(before);
            });
  }

  @Override
  public Runnable watch(String key, Runnable changed) {
    Dispatcher shared = dispatcher();
    Subscription subscription =
        shared.subscribe(
            bucket.republished(KeyToken.encode(key)),
            message -> {
              if (!isOwn(message)) {
                changed.run();
              }
            });
    return () -> {
      if (subscription.isActive()) {
        shared.unsubscribe(subscription);
      }
    };
  }

  private boolean isOwn(Message message) {
    return message.hasHeaders() && writer.equals(message.getHeaders().getLast(WRITER));
  }

  private Dispatcher dispatcher() {
    guard.lock();
    try {
      Dispatcher shared = dispatcher;
      if (shared == null) {
        shared = bucket.connection().createDispatcher();
        dispatcher = shared;
      }
      return shared;
    } finally {
      guard.unlock();
    }
  }

  @Override
  public long micros() {
    return micros.getAsLong();
  }

  @Override
  public void close() {
    guard.lock();
    try {
      Dispatcher shared = dispatcher;
      if (shared != null && shared.isActive()) {
        bucket.connection().closeDispatcher(shared);
      }
    } finally {
      guard.unlock();
    }
    bucket.close();
  }
}
