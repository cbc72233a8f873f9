/**
 * A web console for the locks of a store, on the HTTP server of the JDK. Start reading at {@code
 * io.mortise.console.Console}.
 */
@SuppressWarnings({"requires-automatic", "module"}) // the tool is no module
module io.mortise.console {
  requires transitive io.mortise.core;
  requires com.fasterxml.jackson.jr.ob;
  requires static transitive jakarta.servlet;
  requires java.sql;
  requires jdk.httpserver;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.console;
  // Views shared by the tools.
  exports io.mortise.console.observer to
      io.mortise.cli;
  exports io.mortise.console.view to
      io.mortise.cli;
}
