package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("toy-files")
class FileStoreClientTest extends LockClientContract {
  FileStoreClientTest() {
    super(FileStoreUnderTest.onRealTime());
  }
}
