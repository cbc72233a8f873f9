package io.mortise.quorum;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

/** The API over three Redis servers. */
@ContractFor("quorum")
class RedisMembersClientTest extends LockClientContract {
  RedisMembersClientTest() {
    super(new RedisMembersUnderTest());
  }
}
