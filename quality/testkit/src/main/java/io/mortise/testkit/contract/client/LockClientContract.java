package io.mortise.testkit.contract.client;

import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Nested;

/**
 * The guarantees to users on a given store: the API from end to end, in real time. A store's tests
 * have one subclass per kind of server, beside that of {@link LockStoreContract}.
 *
 * <p>The safety properties are tagged as there; {@code deadline-before-next-grant} stands here.
 */
public abstract class LockClientContract {
  private final StoreUnderTest under;

  /** For the store's own test. Time is real here. */
  protected LockClientContract(StoreUnderTest under) {
    this.under = under;
  }

  @Nested
  class AcquireRules extends AcquireSuite {
    AcquireRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class TryBoundRules extends TryBoundSuite {
    TryBoundRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class FairnessRules extends FairnessSuite {
    FairnessRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class QueueLimitRules extends QueueLimitSuite {
    QueueLimitRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class OnceRules extends OnceSuite {
    OnceRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class LatchRules extends LatchSuite {
    LatchRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class BarrierRules extends BarrierSuite {
    BarrierRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class LeaseRules extends LeaseSuite {
    LeaseRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class ListenerRules extends ListenerSuite {
    ListenerRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class LeaderRules extends LeaderSuite {
    LeaderRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class OperatorRules extends OperatorSuite {
    OperatorRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class JavaLockRules extends JavaLockSuite {
    JavaLockRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class SharedAccessRules extends SharedAccessSuite {
    SharedAccessRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class StickyRules extends StickySuite {
    StickyRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class OutageRules extends OutageSuite {
    OutageRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class LoadRules extends LoadSuite {
    LoadRules() {
      super(LockClientContract.this.under);
    }
  }

  @Nested
  class FaultRules extends FaultSuite {
    FaultRules() {
      super(LockClientContract.this.under);
    }
  }
}
