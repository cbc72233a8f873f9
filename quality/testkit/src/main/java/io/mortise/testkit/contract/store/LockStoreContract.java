package io.mortise.testkit.contract.store;

import io.mortise.testkit.StoreUnderTest;
import org.junit.jupiter.api.Nested;

/**
 * Requirements on every store at the level of the SPI, rule by rule. A store's tests have one
 * subclass per kind of server:
 *
 * <pre>{@code
 * @ContractFor("redis")
 * class RedisStoreTest extends LockStoreContract {
 *   RedisStoreTest() {
 *     super(new RedisUnderTest());
 *   }
 * }
 * }</pre>
 *
 * <p>The safety properties are tagged: {@code exclusion}, {@code stale-holder-changes-nothing},
 * {@code tokens-rise}, {@code retried-attempt-granted-once}, {@code
 * cancelled-waiter-leaves-no-trace}. A sixth, {@code deadline-before-next-grant}, needs the engine
 * and stands in the contract of the client.
 *
 * <p>Tests of a missing capability are replaced by tests that the store refuses such requests at
 * once, without writing.
 */
public abstract class LockStoreContract {
  private final StoreUnderTest under;

  /** For the store's own test. */
  protected LockStoreContract(StoreUnderTest under) {
    this.under = under;
  }

  @Nested
  class ExclusionRules extends ExclusionSuite {
    ExclusionRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class SessionRules extends SessionSuite {
    SessionRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class QueueRules extends QueueSuite {
    QueueRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class WaiterLivenessRules extends WaiterLivenessSuite {
    WaiterLivenessRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class SharedModeRules extends SharedModeSuite {
    SharedModeRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class SemaphoreRules extends SemaphoreSuite {
    SemaphoreRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class TimeLimitRules extends TimeLimitSuite {
    TimeLimitRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class TokenRules extends TokenSuite {
    TokenRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class NotificationRules extends NotificationSuite {
    NotificationRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class InspectRules extends InspectSuite {
    InspectRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class SurveyRules extends SurveySuite {
    SurveyRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class SessionListRules extends SessionListSuite {
    SessionListRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class EvictRules extends EvictSuite {
    EvictRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class LockNameRules extends LockNameSuite {
    LockNameRules() {
      super(LockStoreContract.this.under);
    }
  }

  @Nested
  class CapabilityRules extends CapabilitySuite {
    CapabilityRules() {
      super(LockStoreContract.this.under);
    }
  }
}
