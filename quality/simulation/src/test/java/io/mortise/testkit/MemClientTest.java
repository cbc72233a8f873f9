package io.mortise.testkit;

import io.mortise.spi.Capability;
import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import java.util.EnumSet;

/** The API over the store in memory. */
@ContractFor("mem")
class MemClientTest extends LockClientContract {
  MemClientTest() {
    super(MemStoreUnderTest.onRealTime(EnumSet.allOf(Capability.class)));
  }
}
