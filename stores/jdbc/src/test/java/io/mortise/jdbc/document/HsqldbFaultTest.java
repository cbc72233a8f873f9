package io.mortise.jdbc.document;

import io.mortise.testkit.contract.document.ClocklessFaultContract;

/** Locks on a server that dies or stands still. */
class HsqldbFaultTest extends ClocklessFaultContract<HsqldbServer> {
  @Override
  protected HsqldbServer start() {
    return HsqldbServer.start();
  }

  @Override
  protected boolean takesSeveralServers() {
    return false;
  }
}
