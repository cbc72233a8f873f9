package io.mortise.redis.sentinel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.FakeServer;
import io.mortise.redis.transport.NotTheMasterException;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The answer to believe of three Sentinels that disagree, or that count failovers anew. */
class SentinelResolverTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int OLD = 1;
  private static final int NEW = 2;

  /** A Sentinel that names a master at a port, after that many failovers. */
  private static final class FakeSentinel {
    final FakeServer server;
    volatile int port;
    volatile int epoch;
    volatile long delayMillis;

    FakeSentinel() throws IOException {
      server =
          FakeServer.greeting(
              (peer, command) -> {
                BoundedWait.pass(Duration.ofMillis(delayMillis));
                if (command.get(1).equals("MASTER")) {
                  peer.send("*2\r\n+config-epoch\r\n+" + epoch + "\r\n");
                } else {
                  peer.send("*2\r\n+127.0.0.1\r\n+" + port + "\r\n");
                }
              });
    }

    void says(int epoch, int port) {
      this.epoch = epoch;
      this.port = port;
    }
  }

  private final List<FakeSentinel> sentinels = new ArrayList<>();
  private SentinelResolver master;

  @BeforeEach
  void start() throws IOException {
    for (int i = 0; i < 3; i++) {
      sentinels.add(new FakeSentinel());
    }
    List<Endpoint> endpoints =
        sentinels.stream().map(one -> one.server.endpoint().within(PATIENCE)).toList();
    master = new SentinelResolver(endpoints, "mymaster", endpoints.get(0), Ticker.SYSTEM);
  }

  @AfterEach
  void stop() throws IOException {
    for (FakeSentinel fakeSentinel : sentinels) {
      fakeSentinel.server.close();
    }
  }

  private void allSay(int epoch, int port) {
    sentinels.forEach(fakeSentinel -> fakeSentinel.says(epoch, port));
  }

  private void assertFound(int port) throws IOException {
    assertThat(master.resolve().port()).isEqualTo(port);
  }

  private void assertRefused() {
    assertThatThrownBy(master::resolve)
        .isInstanceOf(NotTheMasterException.class)
        .hasMessageContaining("mymaster");
  }

  @Test
  void givenOneThatKnowsOfAFailover_thenItIsBelieved_andNotTheOthers_alsoWhenItIsSilent()
      throws Exception {
    allSay(1, OLD);
    assertFound(OLD);
    sentinels.get(0).says(2, NEW);
    assertFound(NEW);
    sentinels.get(0).server.close();
    assertRefused();
    assertRefused();
    sentinels.get(1).says(2, NEW);
    assertFound(NEW);
  }

  @Test
  void givenSlowNetwork_thenSentinelsAreWaitedFor() throws Exception {
    allSay(1, OLD);
    sentinels.forEach(fakeSentinel -> fakeSentinel.delayMillis = 700);
    assertFound(OLD);
  }

  @Test
  void givenSilentSentinel_thenItIsNotWaitedForLong() throws Exception {
    allSay(1, OLD);
    sentinels.get(0).delayMillis = PATIENCE.toMillis();
    long begun = System.nanoTime();
    assertFound(OLD);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(PATIENCE.dividedBy(2));
  }

  @Test
  void givenAllAreReset_thenTheyAreBelieved_andTheNextFailoverIsFollowed() throws Exception {
    allSay(2, NEW);
    assertFound(NEW);
    allSay(0, NEW);
    assertFound(NEW);
    sentinels.get(2).says(1, OLD);
    assertFound(OLD);
  }

  @Test
  void givenOneAfterTheOtherIsReset_thenThoseThatRememberAreBelievedAsLongAsThereAreAny()
      throws Exception {
    allSay(2, NEW);
    assertFound(NEW);
    sentinels.get(0).says(0, OLD);
    assertFound(NEW);
    sentinels.get(1).says(0, OLD);
    assertFound(NEW);
    sentinels.get(2).says(0, OLD);
    assertFound(OLD);
  }

  @Test
  void givenOneKnewOfAFailover_whenItIsResetAndTheOthersAreBehind_thenTheMajorityIsBelieved()
      throws Exception {
    allSay(1, OLD);
    sentinels.get(0).says(2, NEW);
    assertFound(NEW);
    sentinels.get(0).says(0, OLD);
    // One alone is no majority, and the Sentinels that are behind disagree.
    sentinels.get(1).server.close();
    assertRefused();
  }

  @Test
  void givenOneIsGoneForGood_whenTheOthersAreReset_thenTheyAreBelieved() throws Exception {
    allSay(2, NEW);
    assertFound(NEW);
    sentinels.get(0).server.close();
    sentinels.get(1).says(0, OLD);
    assertFound(NEW);
    sentinels.get(2).says(0, OLD);
    assertFound(OLD);
  }

  @Test
  void givenAMajorityIsSilent_whenTheOtherIsReset_thenItIsNotBelieved() throws Exception {
    allSay(2, NEW);
    assertFound(NEW);
    sentinels.get(0).server.close();
    sentinels.get(1).server.close();
    sentinels.get(2).says(0, OLD);
    assertRefused();
  }
}
