package io.mortise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.mortise.admin.Eviction;
import io.mortise.admin.LockQuery;
import io.mortise.function.CheckedRunnable;
import io.mortise.function.CheckedSupplier;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Methods name the missing argument, so that callers without null checks of their own see it. */
class NullArgumentsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final CheckedRunnable<RuntimeException> RUNNABLE = null;
  private static final CheckedSupplier<String, RuntimeException> SUPPLIER = null;

  private final LockClient client = LockClient.connect("mem:null-arguments");
  private final DistributedLock lock = client.lock("a");

  @AfterEach
  void close() {
    client.close();
  }

  private static void refuses(String parameter, ThrowingCallable call) {
    assertThatNullPointerException().isThrownBy(call).withMessage(parameter);
  }

  @Test
  void givenClient_thenItRefusesNull() {
    refuses("url", () -> LockClient.connect(null));
    refuses("store", () -> LockClient.builder().store(null));
    refuses("ttl", () -> LockClient.builder().ttl(null));
    refuses("name", () -> LockClient.builder().name(null));
    refuses("name", () -> client.lock(null));
    refuses("name", () -> client.lock(null, LockOptions.DEFAULTS));
    refuses("options", () -> client.lock("a", null));
    refuses("name", () -> client.readWriteLock(null));
    refuses("name", () -> client.semaphore(null, 2));
    refuses("names", () -> client.allOf((String[]) null));
    refuses("name", () -> client.leader(null, lead -> {}));
    refuses("task", () -> client.leader("a", null));
    refuses("options", () -> client.leader("a", null, lead -> {}));
    refuses("name", () -> client.allOf("a", null));
    refuses("name", () -> LockName.of(null));
  }

  /** What brings them is not on the class path of these tests. */
  @Test
  void givenNoArtifactOfRecipes_thenTheMessageNamesIt() {
    assertThatIllegalStateException()
        .isThrownBy(() -> client.once("a"))
        .withMessageContaining("Add the artifact mortise-recipes to the class path.");
  }

  @Test
  void givenLock_thenItRefusesNull_andIsNotTaken() {
    refuses("options", () -> lock.with(null));
    refuses("wait", () -> lock.acquireWithin(null));
    refuses("wait", () -> lock.tryAcquire(null));
    refuses("wait", () -> lock.acquireAsync(null));
    refuses("wait", () -> lock.withLock(null, () -> "done"));
    refuses("task", () -> lock.withLock(RUNNABLE));
    refuses("task", () -> lock.withLock(SUPPLIER));
    refuses("task", () -> lock.withLock(SECOND, RUNNABLE));
    refuses("task", () -> lock.withLock(SECOND, SUPPLIER));
    refuses("task", () -> lock.tryWithLock(null));
    refuses("task", () -> lock.withLease(null));
    refuses("task", () -> lock.withLease(SECOND, null));
    refuses("task", () -> lock.callWithLease(null));
    refuses("task", () -> lock.callWithLease(SECOND, null));
    refuses("task", () -> lock.tryWithLease(null));
    refuses("task", () -> lock.withLockAsync(null));
    refuses("unit", () -> lock.asJavaLock().tryLock(1, null));
    assertThat(client.admin().find("a")).isEmpty();
  }

  @Test
  void givenLease_thenItRefusesNull() throws InterruptedException {
    try (Lease lease = lock.acquire()) {
      refuses("listener", () -> lease.onLost(null));
      refuses("task", () -> lease.run(RUNNABLE));
      refuses("task", () -> lease.run(SUPPLIER));
      refuses("atMost", () -> lease.extend(null));
      refuses("atLeast", () -> lease.keepShut(null));
      refuses("lock", () -> new FencingToken(null, 1, "holder"));
      refuses("holder", () -> new FencingToken("a", 1, null));
    }
  }

  @Test
  void givenGroup_thenItRefusesNull_andIsNotTaken() throws InterruptedException {
    LockGroup group = client.allOf("a", "b");
    refuses("wait", () -> group.acquireWithin(null));
    refuses("wait", () -> group.tryAcquire(null));
    refuses("wait", () -> group.acquireAsync(null));
    refuses("task", () -> group.withLocks(RUNNABLE));
    refuses("task", () -> group.withLocks(SUPPLIER));
    refuses("task", () -> group.withLocks(SECOND, RUNNABLE));
    refuses("task", () -> group.withLocks(SECOND, SUPPLIER));
    refuses("task", () -> group.tryWithLocks(null));
    refuses("task", () -> group.withLocksAsync(null));
    assertThat(client.admin().list(LockQuery.all().page(null, 10)).items()).isEmpty();
    try (GroupLease lease = group.acquire()) {
      refuses("name", () -> lease.lease(null));
    }
  }

  @Test
  void givenOptionsAndAdmin_thenTheyRefuseNull() {
    refuses("label", () -> new HoldTerms(null, null, null));
    refuses("value", () -> LockOptions.DEFAULTS.withLabel(null));
    refuses("value", () -> LeaderOptions.DEFAULTS.withMinimumTerm(null));
    refuses("value", () -> LeaderOptions.DEFAULTS.withLabel(null));
    refuses("name", () -> client.admin().find(null));
    refuses("query", () -> client.admin().list(null));
    refuses("prefix", () -> client.admin().list(LockQuery.beginningWith(null).page(null, 1)));
    refuses("name", () -> client.admin().evict(null, "x", Eviction.CLOSE));
    refuses("attempt", () -> client.admin().evict("a", null, Eviction.CLOSE));
    refuses("how", () -> client.admin().evict("a", "x", null));
    refuses("name", () -> client.admin().reopen(null));
  }

  @Test
  void givenWhatAUserPrints_thenItSaysWhatItIs() throws Exception {
    assertThat(client).hasToString("LockClient[mem:null-arguments]");
    assertThat(lock).hasToString("DistributedLock[a, exclusive, mem:null-arguments]");
    assertThat(client.semaphore("s", 3))
        .hasToString("DistributedSemaphore[s, 3 permits, mem:null-arguments]");
    assertThat(client.admin()).hasToString("LockAdmin[mem:null-arguments]");
    assertThat(client.allOf("b", "a")).hasToString("LockGroup[a, b]");
    assertThat(client.readWriteLock("a"))
        .hasToString("DistributedReadWriteLock[a, mem:null-arguments]");
    assertThat(client.readWriteLock("a").asJavaReadWriteLock()).hasToString("JavaReadWriteLock[a]");
    assertThat(client.readWriteLock("a").asJavaReadWriteLock().readLock())
        .hasToString("ReadLock[a]");
    assertThat(LockClient.builder().url("redis://u:secret@h").toString())
        .startsWith("LockClientBuilder[redis://")
        .doesNotContain("secret");
    try (GroupLease lease = client.allOf("b", "a").acquire()) {
      assertThat(lease.toString()).startsWith("GroupLease[Lease[a, token=");
    }
    assertThat(lock.asJavaLock().tryLock(1, TimeUnit.SECONDS)).isTrue();
  }
}
