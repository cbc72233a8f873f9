package io.mortise.consul;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.consul.ConsulGateway.ConsulAnswer;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.internal.document.KeyEscaper;
import io.mortise.support.internal.document.RemovalEntries;
import io.mortise.support.internal.document.WatchedKeys;
import io.mortise.support.internal.document.WatchedKeys.WatchRequest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Documents as entries of Consul's key-value store. The version of a document is the index of its
 * last change. The version of a missing document is the index of the whole store at the read.
 *
 * <p><b>Absence.</b> A removal writes one of 64 {@link RemovalEntries}. Conditions of Consul
 * compare for equality only, so the entry's index is remembered.
 *
 * <p><b>Each write counts.</b> Consul skips a write that changes nothing, and the index stays. So
 * no two writes have the same {@link EntryFlags}.
 *
 * <p>Reads are consistent: the leader asks a majority before it answers. Thread-safe.
 */
final class ConsulDocuments implements VersionedDocuments {
  static final RemovalEntries REMOVALS = new RemovalEntries(64);

  /** Consul's server of HTTP takes slashes and dots for those of a path. */
  private static final KeyEscaper ESCAPER = new KeyEscaper('/', "*-_");

  /** Before the key of an entry. */
  private static final String PATH = "/v1/kv/";

  private static final Pattern MODIFIED = Pattern.compile("\"ModifyIndex\":\\s*(\\d+)");

  private static final Pattern FLAGS = Pattern.compile("\"Flags\":\\s*(\\d+)");

  private static final Pattern VALUE = Pattern.compile("\"Value\":\\s*\"([A-Za-z0-9+/=]+)\"");

  /** Consul's own default; renewals end the wait much sooner. */
  private static final String WAIT = "&wait=5m";

  /** Consul adds up to a sixteenth of the wait, and the network its own. */
  private static final Duration LIMIT = Duration.ofMinutes(6);

  /** Keys as they are written here need no escapes in JSON; those of other programs may. */
  private static final Pattern KEYS = Pattern.compile("\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"");

  private final ConsulGateway gateway;
  private final String prefix;
  private final WatchedKeys watched = new WatchedKeys(this::awaitChange);

  private final EntryFlags flags = new EntryFlags();

  /** The index of each entry of removals that is known here; 0 if it is not there. */
  private final Map<String, Long> removals = new ConcurrentHashMap<>();

  /**
   * Sends nothing yet.
   *
   * @param prefix the begin of each key
   */
  ConsulDocuments(ConsulGateway gateway, String prefix) {
    this.gateway = gateway;
    this.prefix = prefix;
  }

  private String key(String key) {
    return prefix + ESCAPER.escape(key);
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    long known = gateway.lastIndex();
    return gateway
        .read(PATH + key(key) + "?consistent&raw")
        .thenApply(
            answer -> {
              if (!answer.isPositive()) {
                gateway.checkCluster(answer.index(), known);
              }
              return new VersionedText(
                  answer.isPositive() ? answer.body() : null, Long.toString(answer.index()));
            });
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    long version = Long.parseLong(found.version());
    return found.text() == null
        ? lastRemoval(REMOVALS.keyOf(key)).thenCompose(last -> make(key, version, last, text))
        : transact(key, isIndex(key(key), version), text);
  }

  private CompletionStage<Written> make(
      String key, long looked, long lastRemoval, @Nullable String text) {
    if (lastRemoval > looked) {
      return completedFuture(new Written(false, null));
    }
    String removal = REMOVALS.keyOf(key);
    String conditions = isIndex(key(removal), lastRemoval) + "," + isIndex(key(key), 0);
    return transact(key, conditions, text)
        .thenApply(
            written -> {
              if (!written.made()) {
                removals.remove(removal);
              }
              return written;
            });
  }

  private CompletionStage<Long> lastRemoval(String removal) {
    Long known = removals.get(removal);
    return known == null
        ? read(removal).thenApply(found -> remember(removal, found))
        : completedFuture(known);
  }

  private long remember(String removal, VersionedText found) {
    long index = found.text() == null ? 0 : Long.parseLong(found.version());
    removals.put(removal, index);
    return index;
  }

  private CompletionStage<Written> transact(String key, String conditions, @Nullable String text) {
    String full = key(key);
    String removal = REMOVALS.keyOf(key);
    String write = text == null ? delete(full) + "," + set(key(removal), "") : set(full, text);
    long known = gateway.lastIndex();
    return gateway
        .transact("[" + conditions + "," + write + "]")
        .thenApply(
            answer -> {
              if (!answer.isPositive()) {
                return new Written(false, null);
              }
              long index = lastIndex(answer);
              gateway.checkCluster(index, known);
              if (text == null) {
                // Answers to two removals may come in the other order.
                removals.merge(removal, index, Math::max);
              } else {
                watched.written(full, index);
              }
              return new Written(true, new VersionedText(text, Long.toString(index)));
            });
  }

  @Override
  public boolean writesTogether() {
    return true;
  }

  @Override
  public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
    StringJoiner operations = new StringJoiner(",", "[", "]");
    for (DocumentWrite write : writes) {
      operations.add(isIndex(key(write.key()), Long.parseLong(write.found().version())));
    }
    for (DocumentWrite write : writes) {
      operations.add(set(key(write.key()), write.text()));
    }
    long known = gateway.lastIndex();
    return gateway
        .transact(operations.toString())
        .thenApply(
            answer -> {
              if (!answer.isPositive()) {
                return writes.stream().map(write -> new Written(false, null)).toList();
              }
              long index = lastIndex(answer);
              gateway.checkCluster(index, known);
              return writes.stream().map(write -> made(write, index)).toList();
            });
  }

  private Written made(DocumentWrite write, long index) {
    watched.written(key(write.key()), index);
    return new Written(true, new VersionedText(write.text(), Long.toString(index)));
  }

  /** Conditions come first in an answer, with older indexes. */
  private static long lastIndex(ConsulAnswer answer) {
    return MODIFIED
        .matcher(answer.body())
        .results()
        .reduce((earlier, later) -> later)
        .map(last -> Long.parseLong(last.group(1)))
        .orElseThrow(() -> new IllegalStateException("Consul has left an index out."));
  }

  /**
   * A condition.
   *
   * @param index 0 if the entry must not be there
   */
  private static String isIndex(String key, long index) {
    return index == 0
        ? "{\"KV\":{\"Verb\":\"check-not-exists\",\"Key\":\"%s\"}}".formatted(key)
        : "{\"KV\":{\"Verb\":\"check-index\",\"Key\":\"%s\",\"Index\":%s}}".formatted(key, index);
  }

  private static String delete(String key) {
    return "{\"KV\":{\"Verb\":\"delete\",\"Key\":\"%s\"}}".formatted(key);
  }

  private String set(String key, String text) {
    String value = Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    return "{\"KV\":{\"Verb\":\"set\",\"Key\":\"%s\",\"Flags\":%s,\"Value\":\"%s\"}}"
        .formatted(key, flags.next(), value);
  }

  /** A transaction that writes nothing, and is refused to a token that may not write. */
  CompletionStage<ConsulAnswer> checkAccess() {
    String key = key(REMOVALS.keyOf(""));
    return gateway.transactAny("[" + isIndex(key, Long.MAX_VALUE) + "," + set(key, "") + "]");
  }

  /** Lists all keys of the kind each time, in memory: Consul lists them in one piece. */
  @Override
  public CompletionStage<List<String>> scan(String keyPrefix, String after, int limit) {
    String last = after.isEmpty() ? "" : key(after);
    return gateway
        .readKeys(PATH + key(keyPrefix) + "?consistent&keys")
        .thenApply(
            answer ->
                KEYS.matcher(answer.isPositive() ? answer.body() : "")
                    .results()
                    .map(found -> found.group(1))
                    .filter(key -> key.compareTo(last) > 0)
                    .sorted()
                    .flatMap(key -> ESCAPER.unescape(key.substring(prefix.length())).stream())
                    .limit(limit)
                    .toList());
  }

  @Override
  public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    return watched.add(key(key), changed);
  }

  /** A blocking query, which Consul answers when the entry has another index. */
  private void awaitChange(String key, WatchRequest request) {
    gateway.awaitChange(
        PATH + key + "?index=" + request.seen() + WAIT,
        LIMIT,
        request,
        answer -> {
          // An index that has gone back belongs to a store that was restored.
          if (answer.isPositive() && answer.index() != request.seen()) {
            Matcher found = FLAGS.matcher(answer.body());
            request.tell(
                answer.index(),
                text(answer.body()),
                found.find() && flags.areOwn(Long.parseUnsignedLong(found.group(1))));
          }
        });
  }

  /** The text of an entry that Consul tells as JSON; null if it has none. */
  private static @Nullable String text(String entry) {
    Matcher value = VALUE.matcher(entry);
    return value.find() ? new String(Base64.getDecoder().decode(value.group(1)), UTF_8) : null;
  }

  @Override
  public void close() {
    watched.close();
    gateway.close();
  }
}
