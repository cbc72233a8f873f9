package io.mortise.nats;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.internal.document.KeyEscaper;
import io.mortise.support.internal.document.WatchedKeys;
import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Documents as keys of a bucket. The version of a document is the sequence number of its message.
 *
 * <p><b>Absence.</b> A removal leaves a marker, whose number is then the version: a write that
 * found none before is refused, since the key has a message. A sweep forgets markers after ten
 * minutes, by the stamps of the server. A key without any message has the number of the last
 * message of the stream, so that fencing tokens rise; a zero before it says that no message is to
 * be replaced.
 *
 * <p><b>Reads go to the stream's leader.</b> A replica that is behind may not have a session yet
 * that holds a lock, and its lock would look free.
 *
 * <p>Thread-safe.
 */
final class NatsDocuments implements VersionedDocuments {
  /**
   * As long as a lock's record remembers its last end, and much longer than a request is in flight,
   * unless its sender or a server stands still meanwhile.
   */
  static final Duration MARKERS_KEPT = Duration.ofMinutes(10);

  /** Escapes characters that a key of NATS cannot have. A dot parts the kind from the name. */
  private static final KeyEscaper TOKENS = new KeyEscaper('.', "-_/");

  /** The version of a key without a message begins with it. */
  private static final String UNWRITTEN = "0";

  /** There is no stream, and a writer makes it. No other version has three zeros. */
  private static final VersionedText NO_STREAM = new VersionedText(null, UNWRITTEN + "00");

  private static final String OPERATION = "KV-Operation";
  private static final String MARKER_OF_SERVER = "Nats-Marker-Reason";
  private static final String WRITER = "Mortise-Writer";
  private static final String SEQUENCE = "Nats-Sequence";

  private final NatsBucket bucket;
  private final Duration markersKept;

  /**
   * Requests and renewals have one each: a session's watch skips what renewals write, and must see
   * the notifications that requests of this process leave.
   */
  private final String writer = UUID.randomUUID().toString();

  private final WatchedKeys watched = new WatchedKeys(this::subscribe);

  /**
   * Sends nothing yet.
   *
   * @param markersKept for how long at least a removed document is remembered
   */
  NatsDocuments(NatsBucket bucket, Duration markersKept) {
    this.bucket = bucket;
    this.markersKept = markersKept;
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return bucket
        .last(TOKENS.escape(key))
        .thenCompose(
            found ->
                switch (found.getApiErrorCode()) {
                  case NatsBucket.NO_MESSAGE -> bucket.info("").thenApply(NatsDocuments::unwritten);
                  case NatsBucket.NO_STREAM -> completedFuture(NO_STREAM);
                  default -> completedFuture(document(found));
                });
  }

  /** The stream is asked after the key: its number is greater than that of any earlier document. */
  private static VersionedText unwritten(StreamInfo stream) {
    return stream.hasError()
        ? NO_STREAM
        : new VersionedText(null, UNWRITTEN + stream.getStreamState().getLastSequence());
  }

  private static VersionedText document(MessageInfo found) {
    String version = Long.toString(found.getSeq());
    if (isMarker(found.getHeaders())) {
      return new VersionedText(null, version);
    }
    byte[] text = found.getData();
    return new VersionedText(text == null ? "" : new String(text, StandardCharsets.UTF_8), version);
  }

  /**
   * Forgets a marker that is old by the server's own stamps: the last message of the stream came so
   * much later.
   */
  @Override
  public CompletionStage<Boolean> forget(String key) {
    String token = TOKENS.escape(key);
    return bucket
        .last(token)
        .thenCombine(bucket.info(""), (found, stream) -> isOld(found, stream) ? found.getSeq() : 0)
        .thenCompose(
            sequence -> sequence == 0 ? completedFuture(false) : bucket.purge(token, sequence));
  }

  private boolean isOld(MessageInfo found, StreamInfo stream) {
    return !found.hasError()
        && !stream.hasError()
        && isMarker(found.getHeaders())
        && !Duration.between(found.getTime(), stream.getStreamState().getLastTime())
            .minus(markersKept)
            .isNegative();
  }

  private static boolean isMarker(@Nullable Headers headers) {
    return headers != null
        && (headers.containsKey(OPERATION) || headers.containsKey(MARKER_OF_SERVER));
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    String token = TOKENS.escape(key);
    Headers headers = new Headers().put(WRITER, writer);
    if (text == null) {
      headers.put(OPERATION, "DEL");
    }
    byte[] body = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    CompletionStage<OptionalLong> write =
        found.version().startsWith(UNWRITTEN)
            ? (found.equals(NO_STREAM) ? bucket.make() : completedFuture(found))
                .thenCompose(made -> bucket.write(token, UNWRITTEN, headers, body))
                .thenCompose(sequence -> bucket.checkFound(token, sequence))
            : bucket.write(token, found.version(), headers, body);
    return write.thenApply(sequence -> written(key, text, sequence));
  }

  private Written written(String key, @Nullable String text, OptionalLong sequence) {
    if (sequence.isEmpty()) {
      return new Written(false, null);
    }
    watched.written(key, sequence.getAsLong());
    return new Written(true, new VersionedText(text, Long.toString(sequence.getAsLong())));
  }

  /** Lists all keys of the kind each time, in memory: the server knows no order of keys. */
  @Override
  public CompletionStage<List<String>> scan(String keyPrefix, String after, int limit) {
    String kind = keyPrefix.substring(0, keyPrefix.indexOf('/'));
    return tokens(kind, new HashSet<>())
        .thenApply(
            tokens ->
                tokens.stream()
                    .flatMap(token -> TOKENS.unescape(token).stream())
                    .filter(key -> key.startsWith(keyPrefix) && key.compareTo(after) > 0)
                    .sorted()
                    .limit(limit)
                    .toList());
  }

  private CompletionStage<Set<String>> tokens(String kind, Set<String> before) {
    String subjects = bucket.subjects();
    return bucket
        .info(
            "{\"subjects_filter\":\"%s%s.>\",\"offset\":%s}"
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
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    return watched.add(key, changed);
  }

  /**
   * A subscription, with a dispatcher of its own, which is a thread. Both end with their
   * connection, which another may replace.
   */
  private void subscribe(String key, WatchRequest request) {
    Connection over = bucket.connection();
    Dispatcher dispatcher = over.createDispatcher(message -> tell(request, message));
    CompletableFuture<Void> subscription = new CompletableFuture<>();
    ConnectionListener closing =
        (connection, event) -> {
          if (event == ConnectionListener.Events.CLOSED) {
            subscription.complete(null);
          }
        };
    over.addConnectionListener(closing);
    var unused =
        subscription.whenComplete(
            (none, failure) -> {
              over.removeConnectionListener(closing);
              if (dispatcher.isActive()) {
                over.closeDispatcher(dispatcher);
              }
            });
    request.carriedBy(subscription, none -> {});
    dispatcher.subscribe(bucket.republished(TOKENS.escape(key)));
  }

  /** A bucket of an earlier version republishes without texts. */
  private void tell(WatchRequest request, Message message) {
    Headers headers = message.getHeaders();
    byte[] body = message.getData();
    String text =
        body == null || body.length == 0 ? null : new String(body, StandardCharsets.UTF_8);
    String sequence = headers == null ? null : headers.getLast(SEQUENCE);
    if (headers != null && sequence != null && sequence.matches("\\d{1,18}")) {
      request.tell(Long.parseLong(sequence), text, writer.equals(headers.getLast(WRITER)));
    }
  }

  @Override
  public void close() {
    watched.close();
    bucket.close();
  }
}
