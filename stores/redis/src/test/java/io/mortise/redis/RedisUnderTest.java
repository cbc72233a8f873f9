package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One server of each version serves all tests of the JVM; each has a namespace of its own. */
final class RedisUnderTest implements StoreUnderTest {
  private final RedisServers version;
  private String namespace = "";
  private final String parameters;
  private final InboxSubscriptionProbe inboxSubscriptionProbe = new InboxSubscriptionProbe();
  private @Nullable LockStore store;
  private @Nullable KeyConsistencyCheck keys;

  RedisUnderTest(RedisServers version) {
    this(version, "wire=direct");
  }

  RedisUnderTest(RedisServers version, String parameters) {
    this.version = version;
    this.parameters = parameters;
  }

  private RedisServer server() {
    return version.shared();
  }

  @Override
  public LockStore open() {
    namespace = RedisServers.namespace();
    return reopen();
  }

  private LockStore reopen() {
    return inboxSubscriptionProbe.of(
        RedisStore.open(server().url() + "?" + parameters + "&namespace=" + namespace));
  }

  @Override
  public Set<Capability> capabilities() {
    EnumSet<Capability> able = EnumSet.allOf(Capability.class);
    if (parameters.contains("strict-expiry=true")) {
      able.removeAll(EnumSet.of(Capability.AT_MOST, Capability.AT_LEAST, Capability.VARIABLE_TTL));
    }
    return able;
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  @Override
  public LockStore another() {
    return reopen();
  }

  @Override
  public void awaitConnection(SessionId session, boolean there) {
    inboxSubscriptionProbe.await(server(), "m:" + namespace + ":i:" + session.value(), there);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    server().restart();
    store = reopen();
    return Optional.of(store);
  }

  @Override
  public Optional<Runnable> forbidWrites() {
    return version.forbidWrites();
  }

  @Override
  public List<String> faults() {
    if (keys == null) {
      keys = new KeyConsistencyCheck(server().port(), namespace);
    }
    return keys.faults();
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
    if (keys != null) {
      keys.close();
    }
  }
}
