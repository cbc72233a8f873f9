package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.time.DurationText;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Requirements on a store over a faulty network: each try ends within the timeout, connections
 * forgotten by a firewall are replaced, and the store recovers afterwards.
 */
@Timeout(300)
public abstract class NetworkContract {
  private static final Pattern PORT = Pattern.compile(":(\\d+)");

  private static final Pattern DIFFERENT =
      Pattern.compile("leads? to different (servers|clusters)");

  private static final Duration LONG = Duration.ofSeconds(30);

  /** To connect, to be greeted, and to retry if the server's protocol is unknown. */
  private static final int OPENING_TIMEOUTS = 3;

  private final Supplier<String> server;
  private final String parameter;
  private final Duration timeout;

  private final List<NetworkCondition> past = new ArrayList<>();
  private String lastAnswer = "none";
  private @Nullable FaultInjectionProxy network;

  /**
   * For subclasses.
   *
   * @param server the URL of a store in a running server, with its port
   * @param parameter the URL parameter that sets the timeout, such as {@code timeout}
   * @param timeout in full seconds
   */
  protected NetworkContract(Supplier<String> server, String parameter, Duration timeout) {
    this.server = server;
    this.parameter = parameter;
    this.timeout = timeout;
  }

  /** The URL of the store behind another port, with the timeout. */
  protected final String url(int port) {
    String direct = server.get();
    String moved = PORT.matcher(direct).replaceFirst(":" + port);
    return moved
        + (direct.contains("?") ? "&" : "?")
        + (parameter + "=" + DurationText.format(timeout));
  }

  /** The time after which an idle connection is probed or replaced. */
  protected Duration idle() {
    return Duration.ofMillis(1_500);
  }

  /**
   * Whether the server abandons an incomplete request while its connection is open. If not,
   * resources locked by that request stay locked.
   */
  protected boolean endsHalfRequests() {
    return true;
  }

  /** Starts a server with other locks; empty if the store cannot tell the two apart. */
  protected Optional<LocalServer> another() {
    return Optional.empty();
  }

  @AfterEach
  final void closeNetwork() {
    if (network != null) {
      network.close();
    }
  }

  private int serverPort() {
    Matcher port = PORT.matcher(server.get());
    assertThat(port.find()).isTrue();
    return Integer.parseInt(port.group(1));
  }

  private FaultInjectionProxy network() {
    network = FaultInjectionProxy.to(serverPort());
    return network;
  }

  private LockClient client(FaultInjectionProxy way) {
    return client(way.port());
  }

  private LockClient client(int port) {
    return LockClient.builder().url(url(port)).ttl(Duration.ofSeconds(20)).build();
  }

  @Test
  @RerunIfPaused
  void givenNetworkThatMisbehaves_thenEachTryEndsWithinTheTimeout_andAllIsWellAfterwards() {
    FaultInjectionProxy way = network();
    try (LockClient client = client(way)) {
      assertServed(client);
      for (NetworkCondition condition : NetworkCondition.values()) {
        way.condition(condition);
        for (int i = 0; i < 2; i++) {
          assertBounded(client, condition);
        }
        past.add(condition);
        way.condition(NetworkCondition.FAIR);
        assertServed(client);
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenFirstTryWithoutAnswer_thenLocksAreServedAfterwards() {
    FaultInjectionProxy way = network();
    try (LockClient client = client(way)) {
      way.condition(NetworkCondition.FROZEN);
      assertBounded(client, NetworkCondition.FROZEN);
      way.condition(NetworkCondition.FAIR);
      assertServed(client);
    }
  }

  @Test
  @RerunIfPaused
  void givenRequestsThatArriveButForTheirEnd_thenOthersAreAnswered() {
    Assumptions.assumeTrue(
        endsHalfRequests(), "SKIPPED: the server waits for the end of a request.");
    FaultInjectionProxy way = network();
    try (LockClient client = client(way);
        LockClient other = client(serverPort())) {
      assertServed(client);
      way.condition(NetworkCondition.REQUESTS_CUT_SHORT);
      assertBounded(client, NetworkCondition.REQUESTS_CUT_SHORT);
      BoundedWait.until(LONG, "others are answered", () -> isAnswered(other));
      way.condition(NetworkCondition.FAIR);
    }
  }

  @Test
  @RerunIfPaused
  void givenServerThatCannotBeReached_thenEachTryEndsWithinTheTimeout_andAllIsWellAfterwards() {
    FaultInjectionProxy way = network();
    try (LockClient client = client(way)) {
      assertServed(client);
      way.cut();
      assertBounded(client, NetworkCondition.RESETTING);
      way.lead(serverPort());
      assertServed(client);
      way.halfOpen();
      assertBounded(client, NetworkCondition.FROZEN);
      assertServed(client);
    }
  }

  @Test
  @RerunIfPaused
  void givenServerThatDoesNotAnswer_whenOpened_thenTheTimeoutBoundsThat() {
    FaultInjectionProxy way = network();
    way.condition(NetworkCondition.FROZEN);
    long began = System.nanoTime();
    assertThatThrownBy(() -> client(way).close()).isInstanceOf(StoreUnavailableException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - began))
        .isLessThan(BoundedWait.scaled(timeout.multipliedBy(OPENING_TIMEOUTS)));
  }

  @Test
  @RerunIfPaused
  void givenConnectionsThatAFirewallHasForgotten_thenTheFirstTryWorks() {
    FaultInjectionProxy way = network();
    try (LockClient client = client(way)) {
      assertServed(client);
      way.forget();
      BoundedWait.pass(idle());
      try (Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
        lease.ensureValid();
      }
    }
  }

  @Test
  void givenOneAddressOfTwoServers_thenLocksAreRefusedByName() {
    try (LocalServer other =
        another().orElseGet(() -> Assumptions.abort("the store does not tell servers apart"))) {
      FaultInjectionProxy way = network();
      way.spread(serverPort(), other.port());
      BoundedWait.until(LONG, "it was refused by name", () -> isRefusedAsSpread(way));
    }
  }

  private boolean isRefusedAsSpread(FaultInjectionProxy way) {
    try (LockClient client = client(way)) {
      var unused = client.lock("x").tryAcquire();
      return false;
    } catch (LockException e) {
      return DIFFERENT.matcher(String.valueOf(e.getMessage())).find();
    }
  }

  private void assertBounded(LockClient client, NetworkCondition condition) {
    long began = System.nanoTime();
    try {
      Optional<Lease> lease = client.lock("x").tryAcquire();
      if (lease.isPresent()) {
        var unused = lease.get().releaseAsync();
      }
    } catch (StoreUnavailableException | StoreUnfitException e) {
      // Both outcomes are answers.
    }
    assertThat(Duration.ofNanos(System.nanoTime() - began))
        .as("a try, %s", condition)
        .isLessThan(BoundedWait.scaled(timeout.plusMillis(700)));
  }

  private static boolean isAnswered(LockClient client) {
    try {
      client.lock("x").tryAcquire().ifPresent(Lease::close);
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private void assertServed(LockClient client) {
    try {
      BoundedWait.until(LONG, "locks are served", () -> isServed(client));
    } catch (AssertionError e) {
      throw new AssertionError("The last answer, after " + past + ": " + lastAnswer, e);
    }
  }

  private boolean isServed(LockClient client) {
    try {
      for (String name : List.of("x", "y")) {
        Optional<Lease> lease = client.lock(name).tryAcquire();
        if (lease.isEmpty()) {
          lastAnswer = name + " is busy";
          return false;
        }
        lease.get().close();
      }
      return true;
    } catch (LockException e) {
      if (e instanceof StoreUnfitException
          && DIFFERENT.matcher(String.valueOf(e.getMessage())).find()) {
        throw e;
      }
      // For instance, the loss of a lease is answered before the new session is.
      lastAnswer = e.toString();
      return false;
    }
  }
}
