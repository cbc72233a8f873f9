package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many processes that start or end at the same time. */
@Tag("long")
class DeploymentsTest {
  private static final int REPLICAS = 20;

  /** Without memcached, which mints no tokens. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MEMCACHED")
  @Report({"mcp-hangar/mcp-hangar#812", "svix/svix-webhooks#2633", "psycopg/psycopg2#1036"})
  void givenNewServer_whenManyReplicasStartAtOneTime_thenEachIsServed(FieldStore store)
      throws Exception {
    ExecutorService replicas = Executors.newFixedThreadPool(REPLICAS);
    try (LocalServer server = store.start()) {
      String url = store.newUrl(server);
      List<CompletableFuture<Long>> tokens = new ArrayList<>();
      for (int i = 0; i < REPLICAS; i++) {
        tokens.add(CompletableFuture.supplyAsync(() -> tokenOfOne(url), replicas));
      }
      assertThat(tokens.stream().map(BoundedWait::join)).doesNotHaveDuplicates().hasSize(REPLICAS);
    } finally {
      replicas.shutdownNow();
    }
  }

  /** Restarts processes that time out, as the machine starts many at once. */
  private static long tokenOfOne(String url) {
    StoreUnavailableException last = new StoreUnavailableException("none");
    for (int i = 0; i < 3; i++) {
      try (LockClient client = Trial.client(url);
          Lease lease = client.lock("started").acquireWithin(Trial.LONG)) {
        return lease.token();
      } catch (StoreUnavailableException tooSlow) {
        assertThat(tooSlow).hasMessageNotContainingAny("eadlock", "uplicate");
        last = tooSlow;
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    throw last;
  }

  @ParameterizedTest
  @EnumSource
  @Report({"spring-projects/spring-session#1086", "redis/lettuce#667"})
  void givenServerThatIsGone_whenTheClientIsClosed_thenThatEndsSoon(FieldStore store)
      throws Exception {
    try (LocalServer server = store.start()) {
      LockClient client = Trial.client(store.newUrl(server));
      client.lock("x").acquireWithin(Trial.LONG).close();
      server.kill();
      long began = System.nanoTime();
      client.close();
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .isLessThan(BoundedWait.scaled(Duration.ofSeconds(7)));
    }
  }
}
