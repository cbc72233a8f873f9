package io.mortise.spring.integration;

import io.mortise.LockClient;
import java.util.concurrent.locks.Lock;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Uses a registry as a bean with the Spring Integration version on its class path, and prints that
 * version; ends with an exception on a failure.
 */
final class RegistrySmokeMain {
  static final String DONE = "done";

  private RegistrySmokeMain() {}

  public static void main(String[] args) throws Exception {
    System.out.println("jar=" + LockRegistry.class.getProtectionDomain().getCodeSource());
    System.out.println("spring=" + org.springframework.core.SpringVersion.getVersion());
    try (LockClient one = LockClient.connect("mem:smoke");
        LockClient other = LockClient.connect("mem:smoke");
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(MortiseLockRegistry.class, () -> MortiseLockRegistry.over(one));
      context.registerBean(Consumer.class);
      context.refresh();
      Consumer consumer = context.getBean(Consumer.class);
      Lock lock = consumer.registry.obtain("key");
      lock.lock();
      try {
        consumer.renewable.renewLock("key");
        check(!MortiseLockRegistry.over(other).obtain("key").tryLock(), "a second holder");
      } finally {
        lock.unlock();
      }
      RecordingCandidate candidate = new RecordingCandidate("a");
      LockRegistryLeaderInitiator initiator =
          new LockRegistryLeaderInitiator((LockRegistry<?>) consumer.registry, candidate);
      initiator.setApplicationEventPublisher(event -> {});
      initiator.start();
      for (int i = 0; i < 1000 && !initiator.getContext().isLeader(); i++) {
        Thread.sleep(10);
      }
      check(initiator.getContext().isLeader(), "no leader");
      initiator.stop();
      MortiseLeaderInitiator own = MortiseLeaderInitiator.over(one.lock("own"), candidate);
      own.start();
      for (int i = 0; i < 1000 && !own.getContext().isLeader(); i++) {
        Thread.sleep(10);
      }
      check(own.getContext().isLeader(), "no leader of its own");
      own.stop();
    }
    System.out.println(DONE);
    System.exit(0);
  }

  private static void check(boolean good, String otherwise) {
    if (!good) {
      throw new AssertionError(otherwise);
    }
  }

  /** A bean that takes registries, in the raw form that the interface has in 6.5. */
  @SuppressWarnings("rawtypes")
  static final class Consumer {
    final LockRegistry registry;
    final RenewableLockRegistry renewable;

    @Autowired
    Consumer(LockRegistry registry, RenewableLockRegistry renewable) {
      this.registry = registry;
      this.renewable = renewable;
    }
  }
}
