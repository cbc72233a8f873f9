package io.mortise.bench.subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two conditional writes of an entry of Consul, written by hand: each replaces the value if the
 * entry has the index that the one before gave it. The limit for an uncontended pair; useless where
 * two want a lock.
 */
final class ConsulEntryLock implements Subject {
  private static final Pattern INDEX = Pattern.compile("\"ModifyIndex\":(\\d+)");

  private final ConsulRequests consul;

  ConsulEntryLock(StoreUrls storeUrls) {
    consul = new ConsulRequests(storeUrls);
  }

  private String write(String lock, String value, String index)
      throws IOException, InterruptedException {
    String condition = index.isEmpty() ? "\"set\"" : "\"cas\",\"Index\":" + index;
    String encoded = Base64.getEncoder().encodeToString(value.getBytes(UTF_8));
    String answer =
        consul.put(
            "/v1/txn",
            "[{\"KV\":{\"Verb\":%s,\"Key\":\"raw/%s\",\"Value\":\"%s\"}}]"
                .formatted(condition, lock, encoded));
    Matcher found = INDEX.matcher(answer);
    if (!found.find()) {
      throw new IOException("Consul refused a write: " + answer);
    }
    return found.group(1);
  }

  @Override
  public LockHandle lockHandle(String lock) throws Exception {
    String first = write(lock, "free", "");
    return new LockHandle() {
      private String index = first;

      @Override
      public boolean take(long waitMillis) throws Exception {
        index = write(lock, "held", index);
        return true;
      }

      @Override
      public void release() throws Exception {
        index = write(lock, "free", index);
      }
    };
  }

  /** Idle connections end when the client is collected. */
  @Override
  public void close() {}
}
