package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.curator.CuratorOptions;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Wrong URLs, wrong credentials, no server: one line of advice. */
@SuppressWarnings("try") // Closing may be interrupted.
@Execution(ExecutionMode.CONCURRENT)
class BadInputTest {
  private static void assertOneLine(Throwable thrown) {
    assertThat(thrown.getMessage()).isNotBlank().doesNotContain("\n").hasSizeLessThan(400);
  }

  @ParameterizedTest
  @EnumSource
  void givenWrongUrl_thenItIsRefusedInOneLine_thatNamesIt(Scheme scheme) {
    Stream.of(
            "",
            "a b:1",
            "h:99999",
            "h:1,,h:2",
            "nobody@h:1",
            "h:1/a/../b",
            "h:1/a//b",
            "h:1?tock=1s",
            "h:1?tick=soon",
            "h:1?timeout=1ms",
            "h:1?timeout=1h",
            "h:1?tick=1h",
            "h:1?acl=creator",
            "h:1?acl=mine",
            "h:1?ca=/x",
            "h:1?tls=true&ca=/no/such/file.pem",
            "h:1?tls=true&verify-host=perhaps",
            "h:1?tls=perhaps")
        .map(rest -> scheme + "://" + rest)
        .forEach(BadInputTest::assertRefused);
    if (scheme == Scheme.CURATOR) {
      assertRefused(scheme + "://h:1?recipe=queue");
      assertRefused(scheme + "://h:1?base=apps");
      assertRefused(scheme + "://h:1?namespace=a");
    } else {
      assertRefused(scheme + "://h:1?recipe=mutex");
      assertRefused(scheme + "://h:1?base=/apps");
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenPasswordWithAWrongEscape_thenItIsRefused_andNotShown(Scheme scheme) {
    assertThatThrownBy(() -> LockClient.connect(scheme + "://user:s3cr%zzr3t@h:1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasNoCause()
        .hasMessageContaining("is not a ZooKeeper URL")
        .hasMessageNotContainingAny("zz", "s3cr");
  }

  private static void assertRefused(String url) {
    assertThatThrownBy(() -> LockClient.connect(url))
        .as(url)
        .isInstanceOf(IllegalArgumentException.class)
        .satisfies(BadInputTest::assertOneLine);
  }

  @Test
  void givenWrongOptions_thenTheyAreRefused() {
    ZooKeeperOptions ours = ZooKeeperOptions.DEFAULT;
    CuratorOptions theirs = CuratorOptions.DEFAULT;
    Stream.<Runnable>of(
            () -> ours.withRoot("/"),
            () -> ours.withRoot("a"),
            () -> ours.withTimeout(Duration.ZERO),
            () -> ours.withTick(Duration.ofHours(1)),
            () -> ours.withAcl(List.of()),
            () -> theirs.withBase("a"),
            () -> theirs.withTimeout(Duration.ZERO),
            () -> theirs.withTick(Duration.ofHours(1)),
            () -> theirs.withAcl(List.of()))
        .forEach(
            wrong ->
                assertThatThrownBy(wrong::run)
                    .isInstanceOf(IllegalArgumentException.class)
                    .satisfies(BadInputTest::assertOneLine));
  }

  @ParameterizedTest
  @EnumSource
  void givenNobodyThere_thenItIsUnavailable_withinTheTimeoutGiven(Scheme scheme) {
    String nobody = "127.0.0.1:" + ZooKeeperServer.freePort();
    long since = System.nanoTime();
    for (String url :
        List.of(scheme.url(nobody, "/nobody"), scheme + "://" + nobody + "?tick=0ms")) {
      assertThatThrownBy(() -> LockClient.connect(url + "&timeout=300ms"))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("Cannot reach store")
          .hasMessageContaining("within 300ms")
          .satisfies(BadInputTest::assertOneLine);
    }
    assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThan(Duration.ofMillis(600));
  }

  @ParameterizedTest
  @EnumSource
  void givenWrongPassword_thenItIsUnfitInOneLine_thatDoesNotShowIt(Scheme scheme) throws Exception {
    String right = url(scheme, "app", "se%2Fcr%40et");
    try (LockClient ours = LockClient.connect(right)) {
      Lease lease = ours.lock("x").acquireWithin(TestServer.LONG);
      assertThat(lease.isValid()).isTrue();
      for (String wrong : List.of(url(scheme, "app", "guess"), url(scheme, "other", "x"))) {
        assertThatThrownBy(
                () -> {
                  try (LockClient theirs = LockClient.connect(wrong)) {
                    theirs.lock("x").tryAcquire();
                  }
                })
            .satisfies(BadInputTest::assertTellsOfRights);
      }
      lease.close();
    }
    try (LockClient again = LockClient.connect(right)) {
      again.lock("x").acquireWithin(TestServer.LONG).close();
    }
  }

  private static String url(Scheme scheme, String user, String password) {
    String address = user + ":" + password + "@" + TestServer.shared().address();
    return scheme.url(address, "/closed-" + scheme.name());
  }

  private static void assertTellsOfRights(Throwable thrown) {
    Throwable told = thrown;
    while (!(told instanceof StoreUnfitException) && told.getCause() != null) {
      told = told.getCause();
    }
    assertThat(told).isInstanceOf(StoreUnfitException.class).hasMessageContaining("ACL");
    assertThat(thrown.toString()).doesNotContain("guess").doesNotContain("se/cr@et");
    assertOneLine(thrown);
    assertOneLine(told);
  }

  @ParameterizedTest
  @EnumSource
  void givenUser_thenItsNodesAreItsOwn_andOpenOnesAreEverybodys(Scheme scheme) throws Exception {
    String root = "/rights-" + scheme.name();
    try (ZooKeeper looking =
        TestServer.connect(TestServer.shared().address(), Duration.ofSeconds(20))) {
      for (String acl : List.of("creator", "open")) {
        String url =
            scheme.url("me:p@" + TestServer.shared().address(), root + "-" + acl) + "&acl=" + acl;
        try (LockClient ours = LockClient.connect(url.replace("me:p@", "me:p%40@"))) {
          Lease lease = ours.lock("x").acquireWithin(TestServer.LONG);
          if (acl.equals("open")) {
            String node = scheme.nodes(looking, root + "-" + acl, "x").get(0);
            assertThat(looking.getACL(node, new Stat()))
                .extracting(ACL::getPerms)
                .containsExactly(Perms.ALL);
          } else {
            assertThatThrownBy(() -> scheme.nodes(looking, root + "-" + acl, "x"))
                .isInstanceOf(org.apache.zookeeper.KeeperException.NoAuthException.class);
          }
          lease.close();
        }
      }
    }
  }
}
