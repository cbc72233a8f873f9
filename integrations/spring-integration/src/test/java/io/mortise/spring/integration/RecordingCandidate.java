package io.mortise.spring.integration;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;

/** Records its callbacks. */
class RecordingCandidate extends AbstractCandidate {
  static final String ROLE = "billing";

  final List<String> told = new CopyOnWriteArrayList<>();

  RecordingCandidate(String id) {
    super(id, ROLE);
  }

  @Override
  public void onGranted(Context context) throws InterruptedException {
    told.add("granted");
  }

  @Override
  public void onRevoked(Context context) {
    told.add(context.isLeader() ? "revoked while leader" : "revoked");
  }
}
