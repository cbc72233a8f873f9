package io.mortise.redis.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two connections that break while commands wait for the next one, and reconnect at once. */
class SameServerTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
  private final ManualTime time = new ManualTime();

  /** Whether the first connections have broken. */
  private volatile boolean broken;

  @AfterEach
  void end() {
    timer.shutdownNow();
  }

  @Test
  void givenServerThatWasRestarted_whenBothAreMadeAnew_thenNeitherWaitsForTheOther()
      throws Exception {
    CountDownLatch served = new CountDownLatch(1);
    try (FakeServer first = server(() -> broken ? "new" : "old");
        FakeServer second = server(() -> broken ? awaited(served, "new") : "old")) {
      SameServer there = new SameServer(first.endpoint(), time);
      try (DirectTransport one = connect(there.member(), first);
          DirectTransport two = connect(there.member(), second)) {
        CompletionStage<?> earlier = breakIdle(one, first);
        CompletionStage<?> later = breakIdle(two, second);
        BoundedWait.join(earlier);
        served.countDown();
        BoundedWait.join(later);
        BoundedWait.join(two.call("ECHO", "b"));
        // Each connection asked only its own server when it was opened.
        assertThat(questions(first)).isEqualTo(2);
        assertThat(questions(second)).isEqualTo(2);
      }
    }
  }

  @Test
  void givenBothLeadToOtherServers_whenTheyAreMadeAtOneTime_thenThatIsSeen() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    try (FakeServer first = server(() -> broken ? met(both, "one") : "old");
        FakeServer second = server(() -> broken ? met(both, "two") : "old")) {
      SameServer there = new SameServer(first.endpoint(), time);
      try (DirectTransport one = connect(there.member(), first);
          DirectTransport two = connect(there.member(), second)) {
        breakIdle(one, first);
        breakIdle(two, second);
        await()
            .atMost(LONG)
            .until(() -> (one.outageReason() + two.outageReason()).contains("different servers"));
      }
    }
  }

  /** Has a command wait for the answer to a PING, and then for the next connection. */
  private CompletionStage<?> breakIdle(DirectTransport transport, FakeServer server)
      throws IOException {
    time.advance(Duration.ofSeconds(3));
    CompletionStage<?> held = transport.call("ECHO", "a");
    broken = true;
    server.cutAll();
    return held;
  }

  private DirectTransport connect(SameServer.ServerMember member, FakeServer server)
      throws IOException {
    EndpointResolver led =
        new EndpointResolver() {
          @Override
          public Endpoint resolve() {
            return server.endpoint();
          }

          @Override
          public void check(Endpoint found, String role, ServerQuestion question)
              throws IOException {
            member.check(found, role, question);
          }
        };
    DirectTransport transport =
        DirectTransport.connect(led, "test-reader", timer, time, Duration.ofMinutes(5), () -> {});
    member.belongsTo(transport);
    return transport;
  }

  private static FakeServer server(Supplier<String> runId) throws IOException {
    return FakeServer.greeting(
        (peer, command) -> {
          if (command.get(0).equals("INFO")) {
            peer.send("+run_id:" + runId.get() + "\r\n");
          } else if (command.get(0).equals("ECHO")) {
            peer.send("+" + command.get(1) + "\r\n");
          }
        });
  }

  private static long questions(FakeServer server) {
    return server.received.stream().filter(command -> command.get(0).equals("INFO")).count();
  }

  private static String met(CountDownLatch both, String answer) {
    both.countDown();
    return awaited(both, answer);
  }

  private static String awaited(CountDownLatch latch, String answer) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
      return answer;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
