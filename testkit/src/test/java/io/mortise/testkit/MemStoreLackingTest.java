package io.mortise.testkit;

import io.mortise.internal.table.TableRules;
import io.mortise.spi.Capability;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;

/** The store in memory can be told to lack any capability, and keeps the rest of the contract. */
class MemStoreLackingTest {

  @Nested
  class Queue extends LockStoreContract {
    Queue() {
      super(MemUnderTest.without(Capability.QUEUE));
    }
  }

  @Nested
  class Shared extends LockStoreContract {
    Shared() {
      super(MemUnderTest.without(Capability.SHARED));
    }
  }

  @Nested
  class Permits extends LockStoreContract {
    Permits() {
      super(MemUnderTest.without(Capability.PERMITS));
    }
  }

  @Nested
  class AtMost extends LockStoreContract {
    AtMost() {
      super(MemUnderTest.without(Capability.AT_MOST));
    }
  }

  @Nested
  class AtLeast extends LockStoreContract {
    AtLeast() {
      super(MemUnderTest.without(Capability.AT_LEAST));
    }
  }

  @Nested
  class Token extends LockStoreContract {
    Token() {
      super(MemUnderTest.without(Capability.TOKEN));
    }
  }

  /** Nobody hands over to a session that nobody can judge. */
  @Nested
  class Session extends LockStoreContract {
    Session() {
      super(
          new MemUnderTest(
              EnumSet.complementOf(EnumSet.of(Capability.SESSION, Capability.QUEUE)),
              TableRules.ALL));
    }
  }

  @Nested
  class TokenFloor extends LockStoreContract {
    TokenFloor() {
      super(MemUnderTest.without(Capability.TOKEN_FLOOR));
    }
  }

  @Nested
  class Downgrade extends LockStoreContract {
    Downgrade() {
      super(MemUnderTest.without(Capability.DOWNGRADE));
    }
  }

  @Nested
  class Evict extends LockStoreContract {
    Evict() {
      super(MemUnderTest.without(Capability.EVICT));
    }
  }

  @Nested
  class Push extends LockStoreContract {
    Push() {
      super(MemUnderTest.without(Capability.PUSH));
    }
  }

  @Nested
  class Proof extends LockStoreContract {
    Proof() {
      super(MemUnderTest.without(Capability.PROOF));
    }
  }

  @Nested
  class OwnRecord extends LockStoreContract {
    OwnRecord() {
      super(MemUnderTest.without(Capability.RECORD));
    }
  }

  /** Mutual exclusion and nothing else. */
  @Nested
  class Everything extends LockStoreContract {
    private static final Set<Capability> NOTHING = EnumSet.noneOf(Capability.class);

    Everything() {
      super(new MemUnderTest(NOTHING, TableRules.ALL));
    }
  }
}
