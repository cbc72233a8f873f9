package io.mortise.consul;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.consul.ConsulGateway.Answer;
import io.mortise.spi.document.VersionedDocuments;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Documents as entries of Consul's key-value store. The version of a document is the index of its
 * last change; that of one that is not there is the index of the key-value store when it was looked
 * for.
 *
 * <p><b>Absence.</b> An entry that was made and removed since looks as if it had never been. A
 * removal therefore writes one further entry in the same transaction. A document is made only if
 * that entry is not newer than the look, so that a write which Consul executes long after it was
 * given up finds out here too. Conditions of Consul compare for equality only, so the entry's index
 * is remembered. There are 64 such entries, chosen by a hash of the document's key: a removal
 * seldom refuses the creation of another document.
 *
 * <p>Reads are consistent: the leader asks a majority before it answers. Thread-safe.
 */
final class ConsulDocuments implements VersionedDocuments {
  /** What entries begin with that a removal writes. Documents have other names. */
  private static final String REMOVED = "removed/";

  private static final int REMOVED_ENTRIES = 64;

  /** Before the key of an entry. */
  static final String PATH = "/v1/kv/";

  private static final long UNKNOWN = -1;
  private static final Pattern MODIFIED = Pattern.compile("\"ModifyIndex\":\\s*(\\d+)");

  /** Keys as they are written here need no escapes in JSON; those of other programs may. */
  private static final Pattern KEYS = Pattern.compile("\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"");

  private final ConsulGateway gateway;
  private final String prefix;
  private final LongSupplier micros;
  private final ConsulWatch watch;

  /** Tells the entries that were written here from those of others. */
  private final long writer = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);

  /** The index of the last removal in each, as far as it is known here; 0 if there was none. */
  private final AtomicLongArray removals = new AtomicLongArray(REMOVED_ENTRIES);

  /**
   * Sends nothing yet.
   *
   * @param prefix what each key begins with
   * @param micros the time of day of this process
   */
  ConsulDocuments(ConsulGateway gateway, String prefix, LongSupplier micros) {
    this.gateway = gateway;
    this.prefix = prefix;
    this.micros = micros;
    this.watch = new ConsulWatch(gateway, writer);
    for (int i = 0; i < REMOVED_ENTRIES; i++) {
      removals.set(i, UNKNOWN);
    }
  }

  /**
   * The kind, and behind the slash a name whose letters and digits alone stand for themselves:
   * Consul's server of HTTP takes slashes and dots for those of a path.
   */
  private String key(String key) {
    int slash = key.indexOf('/') + 1;
    String name = URLEncoder.encode(key.substring(slash), UTF_8);
    return prefix
        + key.substring(0, slash)
        + name.replace("+", "%20").replace(".", "%2E").replace('%', '=');
  }

  /** The reverse; empty if it is the key of no document, which another program has made. */
  private Optional<String> plain(String key) {
    int slash = key.indexOf('/', prefix.length()) + 1;
    try {
      String name = URLDecoder.decode(key.substring(slash).replace('=', '%'), UTF_8);
      return Optional.of(key.substring(prefix.length(), slash) + name)
          .filter(plain -> key(plain).equals(key));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  @Override
  public CompletionStage<VersionedText> read(String key) {
    return gateway
        .read(PATH + key(key) + "?consistent&raw")
        .thenApply(
            answer ->
                new VersionedText(
                    answer.isPositive() ? answer.body() : null, Long.toString(answer.index())));
  }

  @Override
  public CompletionStage<Written> compareAndSet(
      String key, VersionedText found, @Nullable String text) {
    long version = Long.parseLong(found.version());
    return found.text() == null
        ? lastRemoval(removalOf(key)).thenCompose(last -> make(key, version, last, text))
        : transact(key, isIndex(key(key), version), text);
  }

  /** The number of the entry that a removal writes; the same in all processes. */
  static int removalOf(String key) {
    return Math.floorMod(key.hashCode(), REMOVED_ENTRIES);
  }

  private CompletionStage<Written> make(
      String key, long looked, long lastRemoval, @Nullable String text) {
    if (lastRemoval > looked) {
      return completedFuture(new Written(false, null));
    }
    int removal = removalOf(key);
    String conditions = isIndex(key(REMOVED + removal), lastRemoval) + "," + isIndex(key(key), 0);
    return transact(key, conditions, text)
        .thenApply(
            written -> {
              if (!written.made()) {
                removals.set(removal, UNKNOWN);
              }
              return written;
            });
  }

  private CompletionStage<Long> lastRemoval(int removal) {
    long known = removals.get(removal);
    return known == UNKNOWN
        ? read(REMOVED + removal).thenApply(found -> remember(removal, found))
        : completedFuture(known);
  }

  private long remember(int removal, VersionedText found) {
    long index = found.text() == null ? 0 : Long.parseLong(found.version());
    removals.set(removal, index);
    return index;
  }

  private CompletionStage<Written> transact(String key, String conditions, @Nullable String text) {
    String full = key(key);
    int removal = removalOf(key);
    String write =
        text == null ? delete(full) + "," + set(key(REMOVED + removal), "") : set(full, text);
    return gateway
        .transact("[" + conditions + "," + write + "]")
        .thenApply(
            answer -> {
              if (!answer.isPositive()) {
                return new Written(false, null);
              }
              long index = lastIndex(answer);
              if (text == null) {
                removals.set(removal, index);
              } else {
                watch.written(full, index);
              }
              return new Written(true, new VersionedText(text, Long.toString(index)));
            });
  }

  /** Conditions come first in an answer, with older indexes. */
  private static long lastIndex(Answer answer) {
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
        : "{\"KV\":{\"Verb\":\"check-index\",\"Key\":\"%s\",\"Index\":%d}}".formatted(key, index);
  }

  private static String delete(String key) {
    return "{\"KV\":{\"Verb\":\"delete\",\"Key\":\"%s\"}}".formatted(key);
  }

  private String set(String key, String text) {
    String value = Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    return "{\"KV\":{\"Verb\":\"set\",\"Key\":\"%s\",\"Flags\":%d,\"Value\":\"%s\"}}"
        .formatted(key, writer, value);
  }

  /** A transaction that writes nothing, and is refused to a token that may not write. */
  CompletionStage<Answer> checkAccess() {
    String key = key(REMOVED + 0);
    return gateway.transact("[" + isIndex(key, Long.MAX_VALUE) + "," + set(key, "") + "]");
  }

  /** Lists all keys of the kind each time, in memory: Consul lists them in one piece. */
  @Override
  public CompletionStage<List<String>> scan(String keyPrefix, String after, int limit) {
    String last = after.isEmpty() ? "" : key(after);
    return gateway
        .read(PATH + key(keyPrefix) + "?consistent&keys")
        .thenApply(
            answer ->
                KEYS.matcher(answer.isPositive() ? answer.body() : "")
                    .results()
                    .map(found -> found.group(1))
                    .filter(key -> key.compareTo(last) > 0)
                    .sorted()
                    .flatMap(key -> plain(key).stream())
                    .limit(limit)
                    .toList());
  }

  @Override
  public Runnable watch(String key, Runnable changed) {
    return watch.add(key(key), changed);
  }

  @Override
  public long micros() {
    return micros.getAsLong();
  }

  @Override
  public void close() {
    watch.close();
    gateway.close();
  }
}
