package io.mortise.curator;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("zk+curator")
@Tag("product")
class CuratorClientTest extends LockClientContract {
  CuratorClientTest() {
    super(new CuratorUnderTest(Recipe.READ_WRITE));
  }
}
