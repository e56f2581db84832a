from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("checks", "0005_how_long_evidence_counts")]

    operations = [
        migrations.AddField(model_name="cluster", name="revision", field=models.BigIntegerField(default=0)),
        migrations.AddField(model_name="cluster", name="fleet_revision", field=models.BigIntegerField(default=0)),
        migrations.AddIndex(
            model_name="node",
            index=models.Index(
                fields=[
                    "cluster",
                    "site",
                    "pool",
                    "ready",
                    "signal",
                    "signal_until",
                    "gpus_allocatable",
                    "gpus",
                    "gpu_product",
                ],
                condition=models.Q(gone_at=None),
                name="node_sums",
            ),
        ),
    ]
