package io.mortise.testkit;

import io.mortise.spi.Capability;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;

/** The API over stores that can do less: the engine makes do with what there is. */
class MemClientLackingTest {
  /** What others did is learnt by renewing and asking again. */
  private static final Set<Capability> NO_PUSH = EnumSet.complementOf(EnumSet.of(Capability.PUSH));

  /** Nobody hands over: whoever asks first gets it. */
  private static final Set<Capability> NO_QUEUE =
      EnumSet.complementOf(EnumSet.of(Capability.QUEUE));

  /** Mutual exclusion and nothing else. */
  private static final Set<Capability> NOTHING = EnumSet.noneOf(Capability.class);

  @Nested
  class AcquireWithoutPush extends AcquireSuite {
    AcquireWithoutPush() {
      super(MemUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class LeaseWithoutPush extends LeaseSuite {
    LeaseWithoutPush() {
      super(MemUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class JavaLockWithoutPush extends JavaLockSuite {
    JavaLockWithoutPush() {
      super(MemUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class SharingWithoutPush extends SharingSuite {
    SharingWithoutPush() {
      super(MemUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class AcquireWithoutQueue extends AcquireSuite {
    AcquireWithoutQueue() {
      super(MemUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class LeaseWithoutQueue extends LeaseSuite {
    LeaseWithoutQueue() {
      super(MemUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class JavaLockWithoutQueue extends JavaLockSuite {
    JavaLockWithoutQueue() {
      super(MemUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class SharingWithoutQueue extends SharingSuite {
    SharingWithoutQueue() {
      super(MemUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class AcquireWithNothing extends AcquireSuite {
    AcquireWithNothing() {
      super(MemUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class LeaseWithNothing extends LeaseSuite {
    LeaseWithNothing() {
      super(MemUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class JavaLockWithNothing extends JavaLockSuite {
    JavaLockWithNothing() {
      super(MemUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class SharingWithNothing extends SharingSuite {
    SharingWithNothing() {
      super(MemUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class TurnWithoutPush extends TurnSuite {
    TurnWithoutPush() {
      super(MemUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class OperatorWithoutPush extends OperatorSuite {
    OperatorWithoutPush() {
      super(MemUnderTest.onRealTime(NO_PUSH));
    }
  }

  @Nested
  class TurnWithoutQueue extends TurnSuite {
    TurnWithoutQueue() {
      super(MemUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class OperatorWithoutQueue extends OperatorSuite {
    OperatorWithoutQueue() {
      super(MemUnderTest.onRealTime(NO_QUEUE));
    }
  }

  @Nested
  class TurnWithNothing extends TurnSuite {
    TurnWithNothing() {
      super(MemUnderTest.onRealTime(NOTHING));
    }
  }

  @Nested
  class OperatorWithNothing extends OperatorSuite {
    OperatorWithNothing() {
      super(MemUnderTest.onRealTime(NOTHING));
    }
  }
}
