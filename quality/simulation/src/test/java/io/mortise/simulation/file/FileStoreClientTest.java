package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("toy-files")
@Tag("product")
class FileStoreClientTest extends LockClientContract {
  FileStoreClientTest() {
    super(FileStoreUnderTest.onRealTime());
  }
}
