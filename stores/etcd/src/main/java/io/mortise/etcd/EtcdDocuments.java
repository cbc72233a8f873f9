package io.mortise.etcd;

import static io.mortise.etcd.JsonText.base64;

import io.mortise.StoreUnfitException;
import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.etcd.RequestBatcher.EtcdAnswer;
import io.mortise.etcd.RequestBatcher.RequestKind;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.internal.document.RemovalEntries;
import io.mortise.support.internal.document.WatchedKeys;
import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Documents as keys of etcd. The version of a document is the revision of its last change; that of
 * one that is not there is the revision at which it was looked for.
 *
 * <p><b>Absence.</b> A removal writes one of 256 {@link RemovalEntries}.
 *
 * <p>Reads go through the leader (etcd's default), so that they see each write that was answered.
 * Thread-safe.
 */
final class EtcdDocuments implements VersionedDocuments {
  static final RemovalEntries REMOVALS = new RemovalEntries(256);

  private final EtcdGateway gateway;
  private final RequestBatcher requests;
  private final String prefix;
  private final WatchedKeys watched;

  /**
   * Sends nothing yet.
   *
   * @param prefix the begin of each key
   * @param ticker times requests that wait for their turn
   */
  EtcdDocuments(EtcdGateway gateway, String prefix, Ticker ticker) {
    this.gateway = gateway;
    this.requests = new RequestBatcher(gateway, ticker);
    this.prefix = prefix;
    this.watched = new WatchedKeys(this::stream);
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return requests
        .send(RequestKind.RANGE, "{\"key\":" + base64(prefix + key) + "}", Set.of())
        .thenApply(answer -> stands(answer.body(), answer.revision()));
  }

  private static VersionedText stands(JsonObject range, long revision) {
    return range.objects("kvs").stream()
        .findFirst()
        .map(
            found ->
                new VersionedText(
                    JsonText.plain(found.text("value")),
                    Long.toString(found.number("mod_revision"))))
        .orElseGet(() -> new VersionedText(null, Long.toString(revision)));
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    String full = base64(prefix + key);
    String removedKey = REMOVALS.keyOf(key);
    String removed = base64(prefix + removedKey);
    String compare =
        found.text() == null
            ? isRevision(full, "EQUAL", 0)
                + ","
                + isRevision(removed, "LESS", Long.parseLong(found.version()) + 1)
            : isRevision(full, "EQUAL", Long.parseLong(found.version()));
    String write =
        text == null
            ? "{\"requestDeleteRange\":{\"key\":" + full + "}}," + put(removed, base64(""))
            : put(full, base64(text));
    return requests
        .send(
            RequestKind.TRANSACTION,
            transaction(compare, write, range(full)),
            text == null ? Set.of(key, removedKey) : Set.of(key))
        .thenApply(answer -> written(key, text, answer));
  }

  private Written written(String key, @Nullable String text, EtcdAnswer answer) {
    return answer.body().flag("succeeded") ? made(key, text, answer) : refused(answer, 0);
  }

  private Written made(String key, @Nullable String text, EtcdAnswer answer) {
    watched.written(prefix + key, answer.revision());
    return new Written(true, new VersionedText(text, Long.toString(answer.revision())));
  }

  /** The outcome for one of the documents, each of which the server has read instead. */
  private static Written refused(EtcdAnswer answer, int which) {
    JsonObject range =
        answer.body().objects("responses").stream()
            .skip(which)
            .findFirst()
            .map(response -> response.object("response_range"))
            .orElseThrow(() -> new IllegalStateException("Etcd has left an answer out."));
    return new Written(false, stands(range, answer.revision()));
  }

  @Override
  public boolean writesTogether() {
    return true;
  }

  @Override
  public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
    StringJoiner compare = new StringJoiner(",");
    StringJoiner success = new StringJoiner(",");
    StringJoiner failure = new StringJoiner(",");
    for (DocumentWrite write : writes) {
      String full = base64(prefix + write.key());
      compare.add(isRevision(full, "EQUAL", Long.parseLong(write.found().version())));
      success.add(put(full, base64(write.text())));
      failure.add(range(full));
    }
    Set<String> keys = writes.stream().map(DocumentWrite::key).collect(Collectors.toSet());
    return requests
        .send(RequestKind.TRANSACTION, transaction(compare, success, failure), keys)
        .thenApply(answer -> written(writes, answer));
  }

  private List<Written> written(List<DocumentWrite> writes, EtcdAnswer answer) {
    boolean isMade = answer.body().flag("succeeded");
    List<Written> outcomes = new ArrayList<>();
    for (int i = 0; i < writes.size(); i++) {
      DocumentWrite write = writes.get(i);
      outcomes.add(isMade ? made(write.key(), write.text(), answer) : refused(answer, i));
    }
    return outcomes;
  }

  private static String transaction(Object compare, Object success, Object failure) {
    return "{\"compare\":["
        + compare
        + "],\"success\":["
        + success
        + "],\"failure\":["
        + failure
        + "]}";
  }

  private static String isRevision(String key, String result, long revision) {
    return "{\"key\":"
        + key
        + ",\"target\":\"MOD\",\"result\":\""
        + result
        + "\",\"mod_revision\":\""
        + revision
        + "\"}";
  }

  private static String range(String key) {
    return "{\"requestRange\":{\"key\":" + key + "}}";
  }

  private static String put(String key, String value) {
    return "{\"requestPut\":{\"key\":" + key + ",\"value\":" + value + "}}";
  }

  /** A transaction that writes nothing, and is refused to a user who may not write. */
  CompletionStage<JsonObject> checkAccess() {
    String key = base64(prefix + REMOVALS.keyOf(""));
    return gateway.callAny(
        "/v3/kv/txn",
        "{\"compare\":["
            + isRevision(key, "LESS", 0)
            + "],\"success\":["
            + put(key, "\"\"")
            + "]}");
  }

  @Override
  public CompletionStage<List<String>> scan(String keyPrefix, String after, int limit) {
    // The key that follows another at once has one zero byte more.
    String from = after.isEmpty() ? prefix + keyPrefix : prefix + after + '\0';
    return gateway
        .call(
            "/v3/kv/range",
            "{\"key\":%s,\"range_end\":%s,\"keys_only\":true,\"limit\":\"%s\"}"
                .formatted(base64(from), JsonText.base64After(prefix + keyPrefix), limit))
        .thenApply(
            answer ->
                answer.objects("kvs").stream()
                    .map(found -> JsonText.plain(found.text("key")).substring(prefix.length()))
                    .toList());
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    return watched.add(prefix + key, changed);
  }

  /** A watch of etcd, whose answer has a line for each change, and does not end. */
  private void stream(String key, WatchRequest request) {
    gateway.stream(
        "/v3/watch",
        "{\"create_request\":{\"key\":%s,\"start_revision\":\"%s\"}}"
            .formatted(base64(key), request.seen() + 1),
        request,
        line -> tell(request, line));
  }

  /** Whether the watch goes on. */
  private static boolean tell(WatchRequest request, String line) {
    JsonObject result;
    List<JsonObject> changes;
    try {
      result = JsonReader.read(line).object("result");
      changes = result.objects("events").stream().map(event -> event.object("kv")).toList();
    } catch (IllegalArgumentException | StoreUnfitException e) {
      // An error of the server in another form: its stream ends.
      return true;
    }
    for (JsonObject change : changes) {
      // A removed key has no value, and no document is empty.
      String text = JsonText.plain(change.text("value"));
      request.tell(change.number("mod_revision"), text.isEmpty() ? null : text, false);
    }
    return !result.flag("canceled");
  }

  @Override
  public void close() {
    watched.close();
    gateway.close();
  }
}
