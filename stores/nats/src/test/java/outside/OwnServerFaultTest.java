package outside;

import io.mortise.testkit.contract.document.ClocklessFaultContract;
import org.junit.jupiter.api.Tag;

/** The published faults, on a server that is started outside of Mortise's packages. */
@Tag("product")
class OwnServerFaultTest extends ClocklessFaultContract<OwnServer> {
  @Override
  protected OwnServer start() {
    return OwnServer.start();
  }
}
