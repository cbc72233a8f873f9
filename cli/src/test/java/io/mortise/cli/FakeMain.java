package io.mortise.cli;

/** The tool as a process of its own, over {@link FakeClient}. */
final class FakeMain {
  private FakeMain() {}

  public static void main(String[] args) {
    System.exit(
        Main.execute(
            new Surroundings(
                System.getenv(), (url, ttl) -> new FakeClient(), System.in, System.out, System.err),
            args));
  }
}
