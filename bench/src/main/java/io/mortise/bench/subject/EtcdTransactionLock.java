package io.mortise.bench.subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.bench.subject.Subjects.StoreKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Base64;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two transactions of etcd, written by hand over its JSON gateway: a key is made if it is not
 * there, and removed if it has the revision at which it was made. The limit for an uncontended
 * pair.
 */
final class EtcdTransactionLock implements Subject {
  private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI transactions;

  EtcdTransactionLock(StoreUrls storeUrls) {
    transactions = URI.create("http://" + storeUrls.address(StoreKind.ETCD) + "/v3/kv/txn");
  }

  private static String base64(String text) {
    return '"' + Base64.getEncoder().encodeToString(text.getBytes(UTF_8)) + '"';
  }

  private String ask(String transaction) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(transactions).POST(BodyPublishers.ofString(transaction)).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  @Override
  public LockHandle lockHandle(String lock) {
    String key = base64("raw/" + lock);
    String made =
        "{\"compare\":[{\"key\":%s,\"target\":\"CREATE\",\"create_revision\":\"0\"}],\"success\":[{\"requestPut\":{\"key\":%s,\"value\":%s}}]}"
            .formatted(key, key, base64(UUID.randomUUID().toString()));
    String removed =
        "{\"compare\":[{\"key\":%s,\"target\":\"CREATE\",\"create_revision\":\"REVISION\"}],\"success\":[{\"requestDeleteRange\":{\"key\":%s}}]}"
            .formatted(key, key);
    return new LockHandle() {
      private String revision = "";

      @Override
      public boolean take(long waitMillis) throws Exception {
        String answer = ask(made);
        Matcher found = REVISION.matcher(answer);
        revision = found.find() ? found.group(1) : "";
        return isMade(answer);
      }

      @Override
      public void release() throws Exception {
        if (!isMade(ask(removed.replace("REVISION", revision)))) {
          throw new IllegalStateException("The key was not there any more.");
        }
      }
    };
  }

  private static boolean isMade(String answer) {
    return answer.contains("\"succeeded\":true");
  }

  /** Idle connections end when the client is collected. */
  @Override
  public void close() {}
}
