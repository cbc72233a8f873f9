/**
 * Contract suites that every store runs, with fake time and faults for servers, published so that
 * others can test their stores and their own code. Start reading at {@code io.mortise.testkit}.
 */
module io.mortise.testkit {
  requires transitive io.mortise.core;
  requires transitive io.mortise.support;
  requires transitive org.junit.jupiter.api;
  requires org.assertj.core;
  requires static transitive org.jspecify;

  exports io.mortise.testkit;
  exports io.mortise.testkit.contract;
  exports io.mortise.testkit.contract.client;
  exports io.mortise.testkit.contract.differential;
  exports io.mortise.testkit.contract.document;
  exports io.mortise.testkit.contract.store;
  exports io.mortise.testkit.history;
  exports io.mortise.testkit.server;
}
