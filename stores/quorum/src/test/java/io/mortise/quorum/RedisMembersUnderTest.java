package io.mortise.quorum;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Three Redis servers serve all tests of the JVM; each has a namespace of its own. */
final class RedisMembersUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static @Nullable RedisMembers members;

  private @Nullable LockStore store;

  private static synchronized RedisMembers members() {
    if (members == null) {
      members = new RedisMembers(3);
    }
    return members;
  }

  @Override
  public LockStore open() {
    // They were started just now, and none is ever restarted.
    store =
        members()
            .open(
                "quarantine=0s&member-timeout=10s&namespace=contract"
                    + NAMESPACES.incrementAndGet());
    return store;
  }

  @Override
  public boolean listsSessions() {
    return false;
  }

  @Override
  public Set<Capability> capabilities() {
    return MemMembers.onRealTime().capabilities();
  }

  @Override
  public boolean givesAllTokens() {
    // On a busy machine a member's clock may be past the floor already.
    return false;
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(600);
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
