package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@ContractFor("toy-files")
@EnabledIfSystemProperty(
    named = "mortise.files",
    matches = "true",
    disabledReason = "takes half a minute; the build runs the suite on stores that push")
class FileStoreClientTest extends LockClientContract {
  FileStoreClientTest() {
    super(FileStoreUnderTest.onRealTime());
  }
}
