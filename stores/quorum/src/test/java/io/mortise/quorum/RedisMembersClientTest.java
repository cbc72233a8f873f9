package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

/** The API over three Redis servers. */
@ContractFor("quorum")
@Tag("extended")
class RedisMembersClientTest extends LockClientContract {
  RedisMembersClientTest() {
    super(new RedisMembersUnderTest());
  }
}
