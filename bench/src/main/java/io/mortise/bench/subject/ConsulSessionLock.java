package io.mortise.bench.subject;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The recipe of Consul's manual: an entry that is acquired by a session and released, and a
 * blocking query while another has it. A session for each handle, of an hour, without renewal.
 */
final class ConsulSessionLock implements Subject {
  private static final Pattern ID = Pattern.compile("\"ID\":\\s*\"([^\"]+)\"");

  private final ConsulRequests consul;

  ConsulSessionLock(StoreUrls storeUrls) {
    consul = new ConsulRequests(storeUrls);
  }

  @Override
  public LockHandle lockHandle(String lock) throws Exception {
    String made = consul.put("/v1/session/create", "{\"TTL\":\"3600s\",\"LockDelay\":\"0s\"}");
    Matcher found = ID.matcher(made);
    if (!found.find()) {
      throw new IOException("Consul made no session: " + made);
    }
    String session = found.group(1);
    String path = "/v1/kv/session/" + lock;
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws Exception {
        long until = System.nanoTime() + waitMillis * 1_000_000;
        String index = "0";
        while (!ask("acquire")) {
          long left = (until - System.nanoTime()) / 1_000_000;
          if (left <= 0) {
            return false;
          }
          index = awaitFree(index, left);
        }
        return true;
      }

      private boolean ask(String what) throws IOException, InterruptedException {
        return consul.put(path + "?" + what + "=" + session, "held").startsWith("true");
      }

      /** Until the entry is of no session, or the time is over; returns the entry's index. */
      private String awaitFree(String seen, long millis) throws IOException, InterruptedException {
        String index = seen;
        long until = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() < until) {
          HttpResponse<String> answer =
              consul.get(
                  path + "?wait=" + millis + "ms&index=" + index,
                  Duration.ofMillis(millis).plusSeconds(10));
          index = answer.headers().firstValue("X-Consul-Index").orElse("0");
          if (!answer.body().contains("\"Session\"")) {
            return index;
          }
        }
        return index;
      }

      @Override
      public void release() throws Exception {
        if (!ask("release")) {
          throw new IllegalStateException("Lock '" + lock + "' was no longer held.");
        }
      }
    };
  }

  /** Idle connections end when the client is collected. */
  @Override
  public void close() {}
}
