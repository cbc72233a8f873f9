package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

/** The API over three Redis servers. */
@ContractFor("quorum")
class RedisMembersClientTest extends LockClientContract {
  RedisMembersClientTest() {
    super(new RedisMembersUnderTest());
  }
}
