package io.mortise.zookeeper.internal;

import io.mortise.support.internal.server.TlsProbe;
import io.mortise.support.internal.server.TlsProbe.ProbeAnswer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * Checks whether the servers speak TLS as the store URL says. ZooKeeper's client does not tell: a
 * TLS mismatch looks like a server that is down, again and again. So each server is sent a TLS
 * handshake, and one of ZooKeeper's four-letter words without TLS; a port that serves both ({@code
 * client.portUnification}) answers both.
 */
final class TlsExamination {
  /** Five bytes: a TLS server waits for a whole record header before it refuses. */
  private static final byte[] WORD = "srvr\n".getBytes(StandardCharsets.US_ASCII);

  private TlsExamination() {}

  /**
   * The result.
   *
   * @param mismatch the fault and its remedy; empty if there is none, or it is unknown
   * @param isCertain whether each server of the URL has shown the mismatch, so that waiting for
   *     another one is of no use
   * @param hint another possible fault if no connection is established; empty, or a sentence
   */
  record TlsResult(String mismatch, boolean isCertain, String hint) {
    static final TlsResult NOTHING = new TlsResult("", false, "");
  }

  /** The protocols that a port answers, and whether its host has an address. */
  private record PortProtocols(InetSocketAddress server, ProbeAnswer tls, ProbeAnswer plain) {
    String name() {
      return server.getHostString() + ":" + server.getPort();
    }

    boolean speaks(boolean wantsTls) {
      return (wantsTls ? tls : plain) == ProbeAnswer.YES;
    }

    /** Silence proves nothing: a busy server may need long for a handshake. */
    boolean isMismatch(boolean wantsTls) {
      return (wantsTls ? tls : plain) == ProbeAnswer.NO && speaks(!wantsTls);
    }
  }

  /**
   * Probes all servers at one time, each first with the protocol that the client does not speak. A
   * server that answers it is already serving, so its refusal of the other protocol is not caused
   * by a startup. Does not block.
   *
   * @param hosts as in the store URL
   * @param wantsTls whether the client uses TLS
   * @param limit of connecting, and of an answer; beyond it counts as no answer
   */
  static CompletableFuture<TlsResult> examine(
      String hosts, boolean wantsTls, Duration limit, Executor executor) {
    List<CompletableFuture<PortProtocols>> asked = new ArrayList<>();
    for (InetSocketAddress server : new ConnectStringParser(hosts).getServerAddresses()) {
      asked.add(CompletableFuture.supplyAsync(() -> protocols(server, wantsTls, limit), executor));
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
        .thenApply(
            nothing -> result(asked.stream().map(CompletableFuture::join).toList(), wantsTls));
  }

  private static PortProtocols protocols(
      InetSocketAddress server, boolean wantsTls, Duration limit) {
    // Resolved here, as the client resolves a name whenever it connects, too.
    InetSocketAddress resolved = new InetSocketAddress(server.getHostString(), server.getPort());
    ProbeAnswer other = ask(resolved, !wantsTls, limit);
    ProbeAnswer wanted = ask(resolved, wantsTls, limit);
    return wantsTls
        ? new PortProtocols(resolved, wanted, other)
        : new PortProtocols(resolved, other, wanted);
  }

  private static ProbeAnswer ask(InetSocketAddress server, boolean inTls, Duration limit) {
    return inTls
        ? TlsProbe.askInTls(server, limit)
        // Any text counts, even that the word is not allowed.
        : TlsProbe.ask(server, WORD, first -> first >= ' ' && first < 0x7f, limit);
  }

  private static TlsResult result(List<PortProtocols> all, boolean wantsTls) {
    if (all.stream().anyMatch(one -> one.speaks(wantsTls))) {
      return new TlsResult(
          "",
          false,
          wantsTls
              ? " A server there speaks TLS: check also that each side trusts the other's"
                  + " certificate (ca, keystore, verify-host)."
              : "");
    }
    List<PortProtocols> mismatches = all.stream().filter(one -> one.isMismatch(wantsTls)).toList();
    if (mismatches.isEmpty()) {
      return all.stream()
          .map(PortProtocols::server)
          .filter(InetSocketAddress::isUnresolved)
          .findFirst()
          .map(server -> " The store URL has an unknown host, '" + server.getHostString() + "'.")
          .map(hint -> new TlsResult("", false, hint))
          .orElse(TlsResult.NOTHING);
    }
    String server = mismatches.get(0).name();
    return new TlsResult(
        wantsTls
            ? "'"
                + server
                + "' does not speak TLS. Leave out tls=true in the store URL, or give the servers'"
                + " secureClientPort."
            : "'"
                + server
                + "' speaks TLS only. Add tls=true to the store URL, with ca and keystore as the"
                + " servers want them, or give the servers' clientPort.",
        mismatches.size() == all.size(),
        "");
  }
}
