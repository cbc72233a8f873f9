package io.mortise.testkit.contract.client;

import io.mortise.spi.Capability;
import io.mortise.testkit.MemStoreUnderTest;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The API over stores with fewer capabilities, which the engine makes up for. */
@Tag("extended")
class MemClientCapabilitiesTest {
  /** Without pushes the engine learns of others by renewals and polls. */
  private static final Set<Capability> NO_PUSH = MemStoreUnderTest.allBut(Capability.PUSH);

  /** Without hand-offs the first request after a release is granted. */
  private static final Set<Capability> NO_QUEUE = MemStoreUnderTest.allBut(Capability.QUEUE);

  /** Mutual exclusion and nothing else. */
  private static final Set<Capability> NOTHING = EnumSet.noneOf(Capability.class);

  @Nested
  class AcquireWithoutPush extends AcquireSuite {
    AcquireWithoutPush() {
      super(MemStoreUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class LeaseWithoutPush extends LeaseSuite {
    LeaseWithoutPush() {
      super(MemStoreUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class JavaLockWithoutPush extends JavaLockSuite {
    JavaLockWithoutPush() {
      super(MemStoreUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class SharedAccessWithoutPush extends SharedAccessSuite {
    SharedAccessWithoutPush() {
      super(MemStoreUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class AcquireWithoutQueue extends AcquireSuite {
    AcquireWithoutQueue() {
      super(MemStoreUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class LeaseWithoutQueue extends LeaseSuite {
    LeaseWithoutQueue() {
      super(MemStoreUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class JavaLockWithoutQueue extends JavaLockSuite {
    JavaLockWithoutQueue() {
      super(MemStoreUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class SharedAccessWithoutQueue extends SharedAccessSuite {
    SharedAccessWithoutQueue() {
      super(MemStoreUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class AcquireWithNothing extends AcquireSuite {
    AcquireWithNothing() {
      super(MemStoreUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class LeaseWithNothing extends LeaseSuite {
    LeaseWithNothing() {
      super(MemStoreUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class JavaLockWithNothing extends JavaLockSuite {
    JavaLockWithNothing() {
      super(MemStoreUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class SharedAccessWithNothing extends SharedAccessSuite {
    SharedAccessWithNothing() {
      super(MemStoreUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class FairnessWithoutPush extends FairnessSuite {
    FairnessWithoutPush() {
      super(MemStoreUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class OperatorWithoutPush extends OperatorSuite {
    OperatorWithoutPush() {
      super(MemStoreUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class FairnessWithoutQueue extends FairnessSuite {
    FairnessWithoutQueue() {
      super(MemStoreUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class OperatorWithoutQueue extends OperatorSuite {
    OperatorWithoutQueue() {
      super(MemStoreUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class FairnessWithNothing extends FairnessSuite {
    FairnessWithNothing() {
      super(MemStoreUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class OperatorWithNothing extends OperatorSuite {
    OperatorWithNothing() {
      super(MemStoreUnderTest.onRealTime(NOTHING));
    }
  }
}
