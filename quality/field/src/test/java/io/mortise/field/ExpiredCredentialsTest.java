package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signatures that AWS rejects for a while: an expired session token, and clock skew. */
@Tag("extended")
class ExpiredCredentialsTest {

  /** Two failures of a wait, this far apart, count as one outage. */
  private static final Duration FAILOVER = Duration.ofSeconds(4);

  /**
   * A proxy before the emulator, which checks no signatures. It refuses requests as the service
   * does.
   */
  private static final class CheckingProxy implements AutoCloseable {
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\nContent-Length: (\\d+)");
    private static final Pattern SIGNED = Pattern.compile("(?i)\r\nX-Amz-Date: (\\w+)");
    private static final DateTimeFormatter FORM =
        DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    private final ServerSocket listening;
    private final int target;

    final AtomicInteger refused = new AtomicInteger();
    volatile boolean isExpired;
    volatile Duration ahead = Duration.ZERO;

    CheckingProxy(int target) throws IOException {
      this.target = target;
      this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      start(this::accept);
    }

    private static void start(Runnable task) {
      Thread thread = new Thread(task);
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      while (!listening.isClosed()) {
        try {
          Socket client = listening.accept();
          start(() -> serve(client));
        } catch (IOException e) {
          // The proxy is closed.
        }
      }
    }

    /** Serves one request per connection. */
    private void serve(Socket client) {
      try (client) {
        InputStream from = client.getInputStream();
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        String head = "";
        while (!head.endsWith("\r\n\r\n")) {
          int next = from.read();
          if (next < 0) {
            return;
          }
          read.write(next);
          head = read.toString(StandardCharsets.ISO_8859_1);
        }
        Matcher length = LENGTH.matcher(head);
        byte[] body = from.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
        client.getOutputStream().write(answer(head, body));
      } catch (IOException e) {
        // One side has closed its connection.
      }
    }

    private byte[] answer(String head, byte[] body) throws IOException {
      if (isExpired) {
        return refusal(
            "com.amazon.coral.service#ExpiredTokenException",
            "The security token included in the request is expired");
      } else if (isSkewed(head)) {
        return refusal(
            "com.amazon.coral.service#InvalidSignatureException", "Signature expired: too old");
      }
      try (Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
        String closing = head.replaceFirst("(?i)\r\nConnection: [^\r]*", "");
        server
            .getOutputStream()
            .write(
                closing
                    .replaceFirst("\r\n", "\r\nConnection: close\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1));
        server.getOutputStream().write(body);
        return server.getInputStream().readAllBytes();
      }
    }

    private boolean isSkewed(String head) {
      Matcher signed = SIGNED.matcher(head);
      Duration difference =
          signed.find()
              ? Duration.between(FORM.parse(signed.group(1), Instant::from), now())
              : Duration.ZERO;
      return difference.abs().compareTo(Duration.ofMinutes(5)) > 0;
    }

    private Instant now() {
      return Clock.systemUTC().instant().plus(ahead);
    }

    private byte[] refusal(String type, String message) {
      refused.incrementAndGet();
      String body = "{\"__type\":\"" + type + "\",\"message\":\"" + message + "\"}";
      String date =
          DateTimeFormatter.RFC_1123_DATE_TIME.format(
              now().truncatedTo(ChronoUnit.SECONDS).atOffset(ZoneOffset.UTC));
      return ("HTTP/1.1 400 Bad Request\r\nDate: "
              + date
              + "\r\nContent-Type: application/x-amz-json-1.0\r\nx-amzn-RequestId: 1\r\nConnection: close\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n"
              + body)
          .getBytes(StandardCharsets.US_ASCII);
    }

    String url(LocalServer server) {
      return server.url().replace(":" + server.port(), ":" + listening.getLocalPort());
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  @Test
  @Report({
    "aws/aws-sdk-js-v3#3052",
    "treeverse/lakeFS#7178",
    "aws-samples/elasticache-iam-auth-demo-app#19",
    "Graylog2/graylog-plugin-integrations#386",
    "snowplow-archive/snowplow-snowflake-loader#51"
  })
  void givenTokenThatHasExpired_whenItIsRenewed_thenAWaitIsServed() throws Exception {
    LocalServer server = FieldStore.DYNAMODB.shared();
    try (CheckingProxy proxy = new CheckingProxy(server.port());
        LockClient client =
            LockClient.connect(proxy.url(server) + "?timeout=2s&namespace=expired")) {
      proxy.isExpired = true;
      CompletableFuture<Lease> waiting = client.lock("x").acquireAsync(Trial.LONG.multipliedBy(2));
      long since = System.nanoTime();
      BoundedWait.until(
          Trial.LONG,
          "refused for longer than another server may take over",
          () -> waiting.isDone() || System.nanoTime() - since > FAILOVER.toNanos());
      assertThat(waiting).isNotDone();
      assertThatThrownBy(() -> client.lock("y").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("is expired");
      proxy.isExpired = false;
      assertThat(waiting).succeedsWithin(Trial.LONG);
    }
  }

  @Test
  @Report({"aws/aws-sdk-js-v3#7605", "aws/aws-sdk-java#1764", "aws/aws-sdk-java#519"})
  void givenClockThatIsOff_thenTheStoreOpens_andAnOpenOneGoesOn() throws Exception {
    LocalServer server = FieldStore.DYNAMODB.shared();
    try (CheckingProxy proxy = new CheckingProxy(server.port())) {
      proxy.ahead = Duration.ofMinutes(10);
      try (LockClient client = LockClient.connect(proxy.url(server) + "?namespace=skewed")) {
        assertThat(client.lock("x").tryAcquire()).isPresent();
        int before = proxy.refused.get();
        assertThat(before).as("the control").isPositive();
        proxy.ahead = Duration.ofMinutes(-10);
        assertThat(client.lock("y").tryAcquire()).isPresent();
        assertThat(proxy.refused.get()).isGreaterThan(before);
      }
    }
  }
}
