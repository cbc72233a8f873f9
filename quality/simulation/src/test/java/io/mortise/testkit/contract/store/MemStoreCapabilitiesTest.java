package io.mortise.testkit.contract.store;

import io.mortise.spi.Capability;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.MemStoreUnderTest;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;

/** The store in memory can lack any capability, and keeps the rest of the contract. */
class MemStoreCapabilitiesTest {

  @Nested
  class Queue extends LockStoreContract {
    Queue() {
      super(MemStoreUnderTest.without(Capability.QUEUE));
    }
  }

  @Nested
  class Shared extends LockStoreContract {
    Shared() {
      super(MemStoreUnderTest.without(Capability.SHARED));
    }
  }

  @Nested
  class Permits extends LockStoreContract {
    Permits() {
      super(MemStoreUnderTest.without(Capability.PERMITS));
    }
  }

  @Nested
  class AtMost extends LockStoreContract {
    AtMost() {
      super(MemStoreUnderTest.without(Capability.AT_MOST));
    }
  }

  @Nested
  class AtLeast extends LockStoreContract {
    AtLeast() {
      super(MemStoreUnderTest.without(Capability.AT_LEAST));
    }
  }

  @Nested
  class Token extends LockStoreContract {
    Token() {
      super(MemStoreUnderTest.without(Capability.TOKEN));
    }
  }

  /** Without judgeable sessions there is no hand-off. */
  @Nested
  class Session extends LockStoreContract {
    Session() {
      super(
          new MemStoreUnderTest(
              EnumSet.complementOf(
                  EnumSet.of(Capability.SESSION, Capability.QUEUE, Capability.CALL_BACK)),
              TableRules.ALL));
    }
  }

  @Nested
  class TokenFloor extends LockStoreContract {
    TokenFloor() {
      super(MemStoreUnderTest.without(Capability.TOKEN_FLOOR));
    }
  }

  @Nested
  class Downgrade extends LockStoreContract {
    Downgrade() {
      super(MemStoreUnderTest.without(Capability.DOWNGRADE));
    }
  }

  @Nested
  class Evict extends LockStoreContract {
    Evict() {
      super(MemStoreUnderTest.without(Capability.EVICT));
    }
  }

  @Nested
  class Push extends LockStoreContract {
    Push() {
      super(MemStoreUnderTest.without(Capability.PUSH));
    }
  }

  @Nested
  class CallBack extends LockStoreContract {
    CallBack() {
      super(MemStoreUnderTest.without(Capability.CALL_BACK));
    }
  }

  @Nested
  class Proof extends LockStoreContract {
    Proof() {
      super(MemStoreUnderTest.without(Capability.PROOF));
    }
  }

  @Nested
  class OwnRecord extends LockStoreContract {
    OwnRecord() {
      super(MemStoreUnderTest.without(Capability.RECORD));
    }
  }

  /** Mutual exclusion and nothing else. */
  @Nested
  class Everything extends LockStoreContract {
    private static final Set<Capability> NOTHING = EnumSet.noneOf(Capability.class);

    Everything() {
      super(new MemStoreUnderTest(NOTHING, TableRules.ALL));
    }
  }
}
